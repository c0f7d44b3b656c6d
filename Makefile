# `make` lists what there is. The work itself is in CMake; this file installs what is missing first.
PREFIX ?= /usr/local
PYTHON := build/venv/bin/python

# oneDNN, inside PyTorch, crashes on virtual machines that hide a part of AMX. This keeps it off AMX.
export ONEDNN_MAX_CPU_ISA ?= AVX512_CORE_BF16

.PHONY: help
help:
	@echo "make TARGET, where TARGET is:"
	@sed -n 's/^\([a-z]*\):.*## /  \1\t/p' Makefile | expand -t 12

.PHONY: demo
demo: command ## build, run the demonstration, leave its pictures in demo/
	@build/release/bin/headwater demo

.PHONY: test
test: build/release/build.ninja ## build and run all tests, C++ and Python
	@tools/setup build test venv viewer
	@cmake --preset release -DHEADWATER_TESTS=ON >/dev/null
	@cmake --build --preset release
	@ctest --preset release -j "$$(nproc)" --no-tests=error
	@$(PYTHON) -m pytest -ra tests/python
	@$(PYTHON) -m pytest -ra tests/page
	@# With the compiler and the flags of above, so that ccache has the engine already.
	@CXX="$${CXX:-c++}" $(PYTHON) -m pip install --quiet --disable-pip-version-check --no-build-isolation \
	  --no-deps --config-settings=cmake.define.HEADWATER_WERROR=ON .
	@$(PYTHON) -m pytest -ra tests/python_package tests/sweep

.PHONY: sweep
sweep: build/sweep/installed ## captures of every class that transformers can build, attention and relevance; after make test
	@PYTHONPATH=build/sweep $(PYTHON) -m pytest -ra tests/sweep/test_packages.py
	@$(PYTHON) tests/sweep/sweep.py
	@$(PYTHON) tests/sweep/relevance.py

.PHONY: notebook
notebook: build/jupyter/installed ## results in JupyterLab itself, trusted and not; after make test
	@$(PYTHON) -m pytest -ra tests/notebook

# An environment of its own: JupyterLab brings half a hundred packages.
build/jupyter/installed: tests/notebook/requirements.txt
	@$(PYTHON) -m venv build/jupyter
	@build/jupyter/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

.PHONY: faults
faults: command ## break what the command stands on, thousands of times: allocations, system calls, limits, signals
	@tools/setup venv
	@$(PYTHON) tests/faults/faults.py --jobs "$$(nproc)"

.PHONY: threads
threads: ## all C++ tests under ThreadSanitizer
	@tools/setup build test check
	@cmake --preset threads >/dev/null
	@cmake --build --preset threads --target headwater_tests headwater_command
	@cd tests && ../build/threads/tests/headwater_tests --gtest_brief=1

# Beside build/venv, so that the other tests run without them.
build/sweep/installed: tests/sweep/requirements.txt
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target build/sweep -r $<
	@touch $@

.PHONY: lowest
lowest: ## the tests of the Python package with the lowest versions of torch and transformers that it takes
	@tools/lowest

.PHONY: kills
kills: ## headwater attribute, killed at random moments, fifty times; after make test
	@HEADWATER_KILLS=50 $(PYTHON) -m pytest -q tests/python_package/test_attribute.py -k killing

.PHONY: million
million: ## the memory of headwater attribute with 10,000 and with a million rows; after make test
	@HEADWATER_ROWS=10000,1000000 $(PYTHON) -m pytest -q tests/python_package/test_attribute_memory.py

.PHONY: engines
engines: build/engines/installed ## headwater.Attributor in Ray and Spark; needs Java; after make test
	@PYTHONPATH=build/engines $(PYTHON) -m pytest -ra tests/engines

# Beside build/venv: three quarters of a gigabyte.
build/engines/installed: tests/engines/requirements.txt
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target build/engines -r $<
	@touch $@

.PHONY: bench
bench: build/release/build.ninja ## build and run the benchmarks
	@tools/setup build bench venv
	@cmake --preset release -DHEADWATER_BENCH=ON >/dev/null
	@cmake --build --preset release
	@$(PYTHON) bench/run.py
	@$(PYTHON) bench/model.py
	@$(PYTHON) bench/flow.py
	@$(PYTHON) bench/relevance.py
	@$(PYTHON) bench/dataset.py
	@$(PYTHON) bench/shares.py
	@tools/setup test
	@$(PYTHON) bench/page.py
	@$(PYTHON) bench/serve.py

.PHONY: check
check: command ## run tools/check: format, includes, documents, sanitizers, fuzzing
	@tools/check

.PHONY: install
install: command ## install the command and the library under PREFIX (and DESTDIR)
	@cmake --build --preset release --target headwater
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

.PHONY: format
format: ## format all C++ files
	@tools/setup check
	@git ls-files '*.cpp' '*.h' | xargs clang-format-14 -i

.PHONY: clean
clean: ## remove what was built; the Python packages in build/venv stay
	@rm -rf demo
	@find build -mindepth 1 -maxdepth 1 ! -name venv -exec rm -rf {} + 2>/dev/null || true

.PHONY: command
command: build/release/build.ninja
	@tools/setup build
	@cmake --build --preset release --target headwater_command

# The first time without tests and benchmarks, so that the demo needs only what the command needs.
# `test` and `bench` switch on their own.
build/release/build.ninja:
	@tools/setup build
	@cmake --preset release -DHEADWATER_TESTS=OFF -DHEADWATER_BENCH=OFF >/dev/null
