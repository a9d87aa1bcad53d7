# Writes the programs in a page (cpp blocks) or in a header's comment (lines indented by five spaces or more after ///,
# from the first #include on) to files of their own, and prints the files' names.
function finish() {
  if (text ~ /int main/) {
    count++
    name = FILENAME
    sub(/.*\//, "", name)
    gsub(/[^A-Za-z0-9]/, "_", name)
    file = folder "/" name "_" count ".cpp"
    printf "%s", text > file
    close(file)
    print file
  }
  text = ""
}
/^```cpp/ { inside = 1; next }
/^```/ { if (inside) finish(); inside = 0; next }
inside { text = text $0 "\n"; next }
/^\/\/\/     / { line = $0; sub(/^\/\/\/     /, "", line); if (line ~ /^#include/ || text != "") text = text line "\n"; next }
/^\/\/\/$/ { if (text != "") text = text "\n"; next }
text != "" && !inside { finish() }
