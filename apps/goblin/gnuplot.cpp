#include "gnuplot.hpp"

#include "goblin/report/figure.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace goblin::app {
namespace {

/// The text as the shell reads it as one word.
std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

/// Runs a script in a folder, where the files go that it draws.
void run_gnuplot_in(const std::filesystem::path& folder, const std::string& script) {
  run_gnuplot(fmt::format("cd {}\n{}", report::gnuplot_quoted(std::filesystem::absolute(folder).string()), script));
}

/// A folder inside another that goes away again: several runs may draw the same figures at the same time.
class DrawingFolder {
 public:
  explicit DrawingFolder(const std::filesystem::path& folder) {
    std::string name = (folder / "drawing-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), fmt::format("{}: cannot be made", name));
    }
    path_ = name;
  }
  DrawingFolder(const DrawingFolder&) = delete;
  DrawingFolder& operator=(const DrawingFolder&) = delete;
  ~DrawingFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw std::runtime_error(fmt::format("{}: gnuplot did not write it", path.string()));
  return text.str();
}

}  // namespace

bool has_gnuplot() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((std::filesystem::path(folder) / "gnuplot").c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string run_gnuplot(const std::string& script) {
  if (!has_gnuplot()) throw std::runtime_error("the plot needs the program gnuplot (Debian and Ubuntu: gnuplot-nox)");
  std::string file = (std::filesystem::temp_directory_path() / "goblin-plot-XXXXXX").string();
  const int descriptor = ::mkstemp(file.data());
  if (descriptor < 0) throw std::runtime_error(fmt::format("{}: cannot be written", file));
  ::close(descriptor);
  std::ofstream(file, std::ios::binary) << script;
  std::string output;
  std::FILE* pipe = ::popen(fmt::format("gnuplot {} 2>&1", shell_quoted(file)).c_str(), "r");
  std::array<char, 4096> block{};
  while (pipe != nullptr) {
    const std::size_t count = std::fread(block.data(), 1, block.size(), pipe);
    if (count == 0) break;
    output.append(block.data(), count);
  }
  const int status = pipe != nullptr ? ::pclose(pipe) : -1;
  std::filesystem::remove(file);
  if (status != 0) throw std::runtime_error(fmt::format("gnuplot: {}", output));
  return output;
}

std::vector<report::DrawnFigure> draw(std::vector<report::Figure> figures, const std::filesystem::path& folder) {
  const DrawingFolder drawing(folder);
  run_gnuplot_in(drawing.path(), report::gnuplot_script(figures));
  std::vector<report::DrawnFigure> drawn;
  for (report::Figure& figure : figures) {
    report::DrawnFigure each{.figure = std::move(figure), .panels = {}};
    for (std::size_t k = 1; k <= each.figure.panels.size(); ++k) {
      const std::string name = fmt::format("{}-{}", each.figure.name, k);
      const auto file = drawing.path() / (name + ".svg");
      each.panels.push_back(
          report::inline_svg(content_of(file), name, each.figure.caption + " " + each.figure.panels[k - 1].title));
      std::filesystem::remove(file);
    }
    drawn.push_back(std::move(each));
  }
  for (const auto& file : std::filesystem::directory_iterator(drawing.path())) {
    std::filesystem::rename(file.path(), folder / file.path().filename());
  }
  return drawn;
}

}  // namespace goblin::app
