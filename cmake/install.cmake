# What `cmake --install` places.
install(TARGETS wattle_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS wattle_static wattle_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
                                                    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/wattle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
