# The plugin for GPUs on processors: its own sources, with CUDA's launches in another form (rewrite.sed)
# and the host's BLAS in place of CUDA's libraries. In the sanitize build memory errors of kernels show.
# The compiler of C++ is of the same family as that of C, whose sanitizers it shares.
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  find_program(WATTLE_CXX clang++)
else()
  find_program(WATTLE_CXX NAMES g++ c++)
endif()
if(WATTLE_CXX)
  set(ENV{CXX} ${WATTLE_CXX})
  include(CheckLanguage)
  check_language(CXX)
endif()
if(NOT CMAKE_CXX_COMPILER)
  message(STATUS "the code for GPUs is not tried on processors: no compiler of C++")
  return()
endif()
enable_language(CXX)
find_program(SED sed REQUIRED)
set(emulator ${CMAKE_CURRENT_SOURCE_DIR}/device/emulator)
set(rewritten ${CMAKE_CURRENT_BINARY_DIR}/emulated)
file(MAKE_DIRECTORY ${rewritten})
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cuda/*.cu ${PROJECT_SOURCE_DIR}/cuda/*.h)
foreach(source ${sources})
  get_filename_component(file ${source} NAME)
  string(REGEX REPLACE "[.]cu$" ".cpp" file ${file})
  add_custom_command(OUTPUT ${rewritten}/${file} DEPENDS ${source} ${emulator}/rewrite.sed
                     COMMAND ${SED} -E -f ${emulator}/rewrite.sed ${source} > ${rewritten}/${file} VERBATIM)
  list(APPEND WATTLE_EMULATED ${rewritten}/${file})
endforeach()
add_library(emulated_plugin MODULE ${WATTLE_EMULATED} ${emulator}/emulator.cpp ${emulator}/libraries.cpp)
set_target_properties(emulated_plugin PROPERTIES OUTPUT_NAME wattle_cuda LIBRARY_OUTPUT_DIRECTORY emulated CXX_STANDARD 17
                      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_include_directories(emulated_plugin PRIVATE ${emulator} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
# Names such as features.h are the sources' own, not the system's.
target_compile_options(emulated_plugin PRIVATE -iquote ${rewritten} -O2 -Wall -Wno-sign-compare -Wno-unknown-pragmas)
# Fibers have stacks that the sanitizers do not know: those of kernels are not looked at, and what changes
# stacks is left alone.
if(CMAKE_C_FLAGS MATCHES "-fsanitize=")
  target_compile_options(emulated_plugin PRIVATE -fsanitize=address -mllvm -asan-stack=0)
  set_source_files_properties(${emulator}/emulator.cpp PROPERTIES COMPILE_OPTIONS -fno-sanitize=all)
endif()
target_link_libraries(emulated_plugin PRIVATE ${OPENBLAS_LINK_LIBRARIES})

# What takes long there is left to GPUs: curves of many sizes, whole recoveries and trainings.
foreach(run ridge=matrices,close_queries,factors,few_fits,memory,bits,fits recover=places,nowhere,differences precondition=sums,applications
            fleet=test_gradients,test_judgements,test_losses,test_bits,test_refusals)
  string(REGEX MATCH "^([a-z]+)=(.+)$" run ${run})
  set(suite ${CMAKE_MATCH_1})
  add_dependencies(test_device_${suite} emulated_plugin)
  string(REPLACE "," ";" cases ${CMAKE_MATCH_2})
  foreach(case ${cases})
    string(REPLACE "test_" "" short ${case})
    add_test(NAME device.emulated_${suite}_${short}
             COMMAND test_device_${suite} $<TARGET_FILE_DIR:emulated_plugin> cuda:0 ${case} small)
    set_tests_properties(device.emulated_${suite}_${short} PROPERTIES ENVIRONMENT LSAN_OPTIONS=use_tls=0)
  endforeach()
endforeach()
