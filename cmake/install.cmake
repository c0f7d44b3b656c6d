include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/headwater)
install(TARGETS headwater EXPORT headwaterTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS headwater_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/headwater/models
        PATTERN "train" EXCLUDE)
install(EXPORT headwaterTargets NAMESPACE headwater:: DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/headwaterConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES cmake/headwaterConfig.cmake cmake/dependencies.cmake
              ${PROJECT_BINARY_DIR}/headwaterConfigVersion.cmake
        DESTINATION ${package_dir})
