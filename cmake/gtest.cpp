// The source of the target that carries the tests' precompiled header (cmake/Tutti.cmake).
