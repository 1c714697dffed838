# The main commands are `make demo` and `make test`; `make help` lists all. Each recipe runs
# scripts.
.DEFAULT_GOAL := build
.PHONY: build demo test check bench intel torch install dist format clean help

build: ## build everything but the tests: environments, C++ tree (build/), Python package (.venv)
	@scripts/build.sh

demo: ## run a real MPI program and a short benchmark with and without Tutti (demo-results/)
	@scripts/build.sh demo
	@scripts/demo.sh

test: ## run every test (about half an hour on 2 cores)
	@scripts/build.sh test
	@scripts/test.sh full

check: ## run the quick tests (under five minutes)
	@scripts/build.sh test
	@scripts/test.sh quick

bench: ## measure the installed MPIs with and without Tutti; ARGS="..." is passed to `tutti bench`
	@scripts/build.sh
	@.venv/bin/tutti bench $(or $(ARGS),calls)

intel: ## install Intel MPI into .mpi/intel, for comparison
	@scripts/system_packages.sh build
	@scripts/environments.sh intel

torch: ## install torch for CPUs into .torch, and run the tests of its backend "tutti"
	@scripts/build.sh
	@scripts/environments.sh torch
	@.venv/bin/python -m pytest tests/torch

install: ## install library, headers, tutti-run and tutti into PREFIX [/usr/local]
	@scripts/build.sh
	@scripts/install.sh "$(or $(PREFIX),/usr/local)"

dist: ## make what is handed out, in dist/: the wheel, a source archive, packages for Debian
	@scripts/build.sh
	@.venv/bin/python scripts/make_dist.py
	@scripts/debian_package.sh

format: ## format all sources, as the tests require
	@scripts/environments.sh venv
	@.venv/bin/clang-format -i $$(git ls-files '*.h' '*.cpp' '*.c')
	@.venv/bin/ruff format --quiet .

clean: ## remove all build results, but keep the environments .venv, .mpi and .torch
	rm -rf build demo-results dist .venv/tutti-wheel

help: ## print this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18
