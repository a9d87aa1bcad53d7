#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goblin::report {

/// A line with its label at the right border of the panel, and a band around it where low and high are given.
struct Series {
  std::string label;
  std::string colour;  ///< "#rrggbb"
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> low;
  std::vector<double> high;
  bool dashed = false;
  bool marks = false;         ///< a dot at every point
  bool label_at_end = false;  ///< the label stands above the end of a line that ends before the others
};

struct Panel {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Series> series;
  bool log_x = false;
  bool log_y = false;
};

/// Panels side by side, so many in a row.
struct Figure {
  std::string name;  ///< of its files: letters, digits and '-'
  std::string caption;
  std::vector<Panel> panels;
  std::size_t columns = 1;
};

/// The colour of the policy whose name the label starts with (the longest such name), in every figure; another for
/// other labels.
[[nodiscard]] std::string_view colour_of(std::string_view label);

/// The text as gnuplot reads it in a script, in quotes.
[[nodiscard]] std::string gnuplot_quoted(std::string_view text);

/// A gnuplot script that draws NAME.svg and NAME.pdf with all panels of each figure, and NAME-1.svg, NAME-2.svg, ...
/// with one panel each, in the folder it is run in.
[[nodiscard]] std::string gnuplot_script(std::span<const Figure> figures);

/// An SVG file that gnuplot wrote, to stand inside a page: without the head of a file, its text and axes in the page's
/// own colour, its ids made unique by the name, and described by the text.
[[nodiscard]] std::string inline_svg(std::string_view svg, std::string_view name, std::string_view description);

/// figure,panel,series,x,y,low,high
void write_csv(std::ostream& out, const Figure& figure);

}  // namespace goblin::report
