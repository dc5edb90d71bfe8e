# What `cmake --install` places.
include(CMakePackageConfigHelpers)

# The command writes its own pages; the stamp keeps a build without changes at rest.
set(WATTLE_GENERATED ${PROJECT_BINARY_DIR}/generated)
add_custom_command(
  OUTPUT ${WATTLE_GENERATED}/pages.stamp
  COMMAND ${CMAKE_COMMAND} -DCOMMAND=$<TARGET_FILE:wattle_command> -DOUTPUT=${WATTLE_GENERATED}
          -P ${PROJECT_SOURCE_DIR}/cmake/generate.cmake
  COMMAND ${CMAKE_COMMAND} -E touch ${WATTLE_GENERATED}/pages.stamp
  DEPENDS wattle_command ${PROJECT_SOURCE_DIR}/cmake/generate.cmake
  COMMENT "Writing man pages and completions")
add_custom_target(pages ALL DEPENDS ${WATTLE_GENERATED}/pages.stamp)

install(TARGETS wattle_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS wattle_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS wattle_shared EXPORT wattleTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/wattle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${WATTLE_GENERATED}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${WATTLE_GENERATED}/completions/wattle
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${WATTLE_GENERATED}/completions/_wattle
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${WATTLE_GENERATED}/completions/wattle.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The Python package, which finds the library from where it lies. Debian's python3 looks in /usr/lib/python3/dist-packages
# and /usr/local/lib/python3.N/dist-packages; from another prefix it is found by PYTHONPATH.
set(WATTLE_PYTHON_DIR lib/python3/dist-packages)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr/local")
  file(GLOB places LIST_DIRECTORIES true RELATIVE /usr/local /usr/local/lib/python3.*/dist-packages)
  if(places)
    list(SORT places COMPARE NATURAL ORDER DESCENDING)
    list(GET places 0 WATTLE_PYTHON_DIR)
  endif()
endif()
install(DIRECTORY python/wattle DESTINATION ${WATTLE_PYTHON_DIR} FILES_MATCHING PATTERN *.py PATTERN py.typed
        PATTERN __pycache__ EXCLUDE)

# find_package(wattle) gives wattle::wattle, the shared library.
set(WATTLE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/wattle)
set_target_properties(wattle_shared PROPERTIES EXPORT_NAME wattle)
install(EXPORT wattleTargets NAMESPACE wattle:: DESTINATION ${WATTLE_PACKAGE_DIR})
configure_package_config_file(cmake/wattleConfig.cmake.in ${WATTLE_GENERATED}/wattleConfig.cmake
                              INSTALL_DESTINATION ${WATTLE_PACKAGE_DIR})
write_basic_package_version_file(${WATTLE_GENERATED}/wattleConfigVersion.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${WATTLE_GENERATED}/wattleConfig.cmake ${WATTLE_GENERATED}/wattleConfigVersion.cmake
        DESTINATION ${WATTLE_PACKAGE_DIR})

# Paths from where the file lies, so that an installed tree can be moved.
file(RELATIVE_PATH WATTLE_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH WATTLE_PC_INCLUDEDIR ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
# What libwattle.a needs from its neighbours, named directly: Requires.private would also ask for the
# static parts of the neighbours' neighbours, which their packages do not bring.
list(JOIN JANSSON_LDFLAGS " " WATTLE_PC_JANSSON)
list(JOIN LIBZIP_LDFLAGS " " WATTLE_PC_LIBZIP)
list(JOIN SQLITE_LDFLAGS " " WATTLE_PC_SQLITE)
list(JOIN INIH_LDFLAGS " " WATTLE_PC_INIH)
set(WATTLE_PC_PRIVATE
    "${WATTLE_PC_JANSSON} ${WATTLE_PC_LIBZIP} ${WATTLE_PC_SQLITE} ${WATTLE_PC_INIH} -pthread -ldl -lm")
configure_file(cmake/wattle.pc.in ${WATTLE_GENERATED}/wattle.pc @ONLY)
install(FILES ${WATTLE_GENERATED}/wattle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
