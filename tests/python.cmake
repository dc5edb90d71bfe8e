# The Python package, file by file, on the library of this build.
set(WATTLE_PYTHON /usr/bin/python3 CACHE FILEPATH "Python of the tests: Debian's, with its python3-* packages")
file(GLOB PYTHON_TESTS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/tests/test_*.py)
foreach(source ${PYTHON_TESTS})
  get_filename_component(name ${source} NAME_WE)
  add_test(NAME python.${name} COMMAND ${WATTLE_PYTHON} -m pytest -q -p no:cacheprovider ${source})
  list(APPEND python_tests python.${name})
endforeach()
# Every example in a docstring, and every name that a type checker knows.
add_test(NAME python.doctest COMMAND ${WATTLE_PYTHON} -m pytest -q -p no:cacheprovider --doctest-modules
                                     ${PROJECT_SOURCE_DIR}/python/wattle)
add_test(NAME python.mypy COMMAND ${WATTLE_PYTHON} -m mypy --cache-dir ${PROJECT_BINARY_DIR}/mypy wattle
         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/python)
set_tests_properties(
  ${python_tests} python.doctest python.mypy
  PROPERTIES ENVIRONMENT
             "PYTHONPATH=${PROJECT_SOURCE_DIR}/python;PYTHONDONTWRITEBYTECODE=1;MPLBACKEND=agg;WATTLE_LIBRARY=$<TARGET_FILE:wattle_shared>;WATTLE_COMMAND=$<TARGET_FILE:wattle_command>")
# As strangers install it.
add_test(NAME install.python COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/install/python.sh ${PROJECT_SOURCE_DIR}
                                     ${PROJECT_BINARY_DIR} ${WATTLE_PYTHON})
