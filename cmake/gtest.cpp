// Carries the precompiled header of the tests (cmake/Tutti.cmake).
