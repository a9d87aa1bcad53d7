# Makes a manual page of a template and of what the command says of itself, so that the page cannot forget an option:
# the line @OPTIONS@ of the template becomes the options in the help, @SUBCOMMANDS@ the subcommands.
# Usage: awk -v version=V -f manual.awk HELP TEMPLATE

function escaped(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  sub(/^[.']/, "\\\\\\&&", text)
  return text
}

# "--listen TEXT=127.0.0.1:8080" with the option in bold.
function tag(text, name) {
  match(text, /^[^ ]+/)
  name = substr(text, 1, RLENGTH)
  return "\\fB" escaped(name) "\\fR" escaped(substr(text, RLENGTH + 1))
}

function add(line) { parts[part] = parts[part] line "\n" }

FNR == 1 { file++ }

file == 1 && /^[A-Z].*:$/ {
  heading = substr($0, 1, length($0) - 1)
  part = heading == "Subcommands" ? "SUBCOMMANDS" : "OPTIONS"
  inside = 1
  next
}
file == 1 && /^$/ { inside = 0; next }
file == 1 && inside && (part == "SUBCOMMANDS" ? /^  [a-z]/ : /^  -/) {
  if (part == "OPTIONS" && heading != "Options") add(".SS " escaped(heading))
  heading = "Options"
  line = substr($0, 3)
  text = ""
  if (match(line, /  +/)) {
    text = substr(line, RSTART + RLENGTH)
    line = substr(line, 1, RSTART - 1)
  }
  add(".TP")
  add(tag(line))
  if (text != "") add(escaped(text))
  next
}
file == 1 && inside && /^      / { sub(/^ +/, ""); add(escaped($0)); next }

file == 2 && /^@[A-Z]+@$/ { printf "%s", parts[substr($0, 2, length($0) - 2)]; next }
file == 2 { gsub(/@VERSION@/, version); print }
