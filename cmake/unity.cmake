# unity_by_folder(TARGET): where CMAKE_UNITY_BUILD is on, the sources of a folder are compiled together, twenty at a time.
# Reading headers takes longer than compiling most of them, so this halves the time of a clean build. By folder, so that a new
# file does not move the others to other groups. Sources with options of their own stay alone: CMake sees to it.
function(unity_by_folder target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  # GCC warns of types in an anonymous namespace as if every source but the first were a header.
  if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "${folder}" name)
    math(EXPR count_${name} "0${count_${name}} + 1")
    math(EXPR tens "${count_${name}} / 20")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}${tens})
  endforeach()
endfunction()
