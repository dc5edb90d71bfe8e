# Writes the commit of the source tree and its day to a header, only when they changed.
cmake_policy(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
execute_process(COMMAND git -C ${SOURCE} log -1 --format=%cs
                OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(failed)
  set(commit "unknown")
  string(TIMESTAMP date "%Y-%m-%d" UTC) # of the build; SOURCE_DATE_EPOCH is honoured
endif()
file(CONFIGURE OUTPUT ${OUTPUT}
     CONTENT "#define WATTLE_COMMIT \"@commit@\"\n#define WATTLE_DATE   \"@date@\"\n" @ONLY)
