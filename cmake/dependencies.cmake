# What the engine links. Read by the build and, installed, by headwaterConfig.cmake.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET GLOBAL libhwy)
pkg_check_modules(pangocairo REQUIRED IMPORTED_TARGET GLOBAL pangocairo)
