# The engines are where the time goes, and they are worth compiling for the processor they run on. They are compiled
# three times, for three generations of x86-64 processors, and the library picks one when it runs (decision 6).
#
# A copy must not leak: its inline functions and templates (std::vector, Eigen) have the same names as those of the
# other copies and of the programs that link goblin, and the linker keeps one of each, whichever it meets first. One
# compiled for a newer processor would then be called on an older one. So each copy is linked into one object whose
# symbols are all local but one: the function that gives its EngineFactory.

include(CheckCXXSourceCompiles)

# Sets `result` to whether this compiler, linker and machine can do that.
function(goblin_has_engine_variants result)
  set(${result} OFF PARENT_SCOPE)
  if(GOBLIN_ONE_VARIANT)
    return()
  endif()
  check_cxx_source_compiles("
    #if !defined(__x86_64__) || !defined(__ELF__)
    #error
    #endif
    int main() { return __builtin_cpu_supports(\"x86-64-v4\"); }" GOBLIN_KNOWS_X86_64_LEVELS)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -Wl,--help OUTPUT_VARIABLE linker_help ERROR_QUIET)
  if(GOBLIN_KNOWS_X86_64_LEVELS AND CMAKE_OBJCOPY AND linker_help MATCHES "force-group-allocation")
    set(${result} ON PARENT_SCOPE)
  else()
    message(STATUS "goblin: the engines are compiled once, with the flags of everything else")
  endif()
endfunction()

# goblin_add_engine_variant(LIBRARY ARCHITECTURE SOURCE...): puts the sources, compiled for that -march, into the library
# as one object that defines goblin_engine_factory_ARCHITECTURE and nothing else. The target
# goblin_engines_ARCHITECTURE has the objects it is made of.
function(goblin_add_engine_variant library architecture)
  string(REPLACE "-" "_" name ${architecture})
  set(entry goblin_engine_factory_${name})
  set(objects goblin_engines_${name})
  set(linked ${CMAKE_CURRENT_BINARY_DIR}/${objects}.o)

  add_library(${objects} OBJECT ${ARGN})
  goblin_compile(${objects})
  target_link_libraries(${objects} PRIVATE Eigen3::Eigen fmt::fmt)
  target_compile_definitions(${objects} PRIVATE GOBLIN_ENGINE_FACTORY=${entry})
  # Unique symbols cannot be made local, and link-time optimisation has none yet.
  target_compile_options(${objects} PRIVATE -march=${architecture} -fno-lto $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  add_custom_command(
    OUTPUT ${linked}
    COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -Wl,--force-group-allocation -o ${linked} $<TARGET_OBJECTS:${objects}>
    COMMAND ${CMAKE_OBJCOPY} --keep-global-symbol=${entry} ${linked}
    DEPENDS $<TARGET_OBJECTS:${objects}>
    COMMENT "Linking the engines for ${architecture}"
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${linked} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  target_sources(${library} PRIVATE ${linked})
endfunction()
