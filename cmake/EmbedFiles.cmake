# goblin_embed_files(TARGET HEADER FUNCTION FILE...)
#
# Puts files into a program: a generated source file of TARGET defines FUNCTION, which HEADER declares, and which gives the
# files with their paths (as written here, relative to the current folder) and SHA-256. See src/serve/embedded_file.hpp.
#
# The same file is the script that does it when the program is built (cmake -P), so that a changed file is put in again.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(goblin_embed_script ${CMAKE_CURRENT_LIST_FILE})

  function(goblin_embed_files target header function)
    string(REGEX REPLACE "[^a-z_]+" "_" name ${function})
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
    list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
    add_custom_command(
      OUTPUT ${source}
      COMMAND ${CMAKE_COMMAND} -D "folder=${CMAKE_CURRENT_SOURCE_DIR}" -D "files=${ARGN}" -D header=${header}
              -D function=${function} -D source=${source} -P ${goblin_embed_script}
      DEPENDS ${paths} ${goblin_embed_script}
      COMMENT "Embedding ${ARGN}"
      VERBATIM)
    # Not together with others, which can be looked at before this is made.
    set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    target_sources(${target} PRIVATE ${source})
  endfunction()
  return()
endif()

string(REGEX REPLACE "^(.*)::([^:]+)$" "\\1" namespace ${function})
string(REGEX REPLACE "^(.*)::([^:]+)$" "\\2" name ${function})
set(arrays "")
set(entries "")
set(count 0)
foreach(file IN LISTS files)
  file(READ ${folder}/${file} bytes HEX)
  file(SHA256 ${folder}/${file} hash)
  string(LENGTH "${bytes}" length)
  math(EXPR length "${length} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  # The zero at the end is not part of the file: an array cannot be empty.
  string(APPEND arrays "constexpr unsigned char file_${count}[] = {${bytes}0};\n")
  string(APPEND entries "      {\"${file}\", {reinterpret_cast<const char*>(file_${count}), ${length}}, \"${hash}\"},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${source} "// Made by cmake/EmbedFiles.cmake.
#include \"${header}\"

#include <array>

namespace ${namespace} {
namespace {

${arrays}
}  // namespace

std::span<const EmbeddedFile> ${name}() {
  static const std::array<EmbeddedFile, ${count}> files = {{
${entries}  }};
  return files;
}

}  // namespace ${namespace}
")
