#include "goblin/report/figure.hpp"

#include "goblin/bandit/policy.hpp"
#include "report/figure_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace goblin::report {
namespace {

constexpr int panel_width = 440;
constexpr int panel_height = 300;
constexpr double label_gap = 0.08;  // of the panel's height

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// What the axis shows, with some air; an axis that is not logarithmic starts at 0 where nothing is below.
Range range_of(const Panel& panel) {
  Range range;
  for (const Series& series : panel.series) {
    for (const auto* values : {&series.y, &series.low, &series.high}) {
      for (const double value : *values) {
        if (!panel.log_y || value > 0.0) range.include(value);
      }
    }
  }
  const bool labels_inside =
      std::any_of(panel.series.begin(), panel.series.end(), [](const Series& series) { return series.label_at_end; });
  if (panel.log_y) return {range.low / 1.3, range.high * (labels_inside ? 3.0 : 1.3)};
  if (range.low > 0.0) range.low = 0.0;
  const double air = range.high > range.low ? 0.06 * (range.high - range.low) : 1.0;
  return {range.low < 0.0 ? range.low - air : range.low, range.high + air};
}

/// Where labels go, as shares of the panel's height: beside the ends of their lines, but apart from each other.
std::vector<double> label_heights(const Panel& panel, const Range& range) {
  const auto share = [&](double value) {
    if (panel.log_y) return std::log(std::max(value, range.low) / range.low) / std::log(range.high / range.low);
    return (value - range.low) / (range.high - range.low);
  };
  std::vector<double> heights;
  for (const Series& series : panel.series) heights.push_back(share(series.y.back()));
  std::vector<std::size_t> order(heights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return heights[a] < heights[b]; });
  for (int pass = 0; pass < 200; ++pass) {
    for (std::size_t k = 1; k < order.size(); ++k) {
      double& below = heights[order[k - 1]];
      double& above = heights[order[k]];
      const double overlap = label_gap - (above - below);
      if (overlap <= 0.0) continue;
      below -= overlap / 2.0;
      above += overlap / 2.0;
    }
    for (double& height : heights) height = std::clamp(height, 0.0, 1.06);
  }
  return heights;
}

std::string data_block(const std::string& name, const Series& series) {
  std::string text = fmt::format("${} << EOD\n", name);
  for (std::size_t k = 0; k < series.x.size(); ++k) {
    const bool band = !series.low.empty();
    text += fmt::format("{:.8g} {:.8g} {:.8g} {:.8g}\n", series.x[k], series.y[k], band ? series.low[k] : series.y[k],
                        band ? series.high[k] : series.y[k]);
  }
  return text + "EOD\n";
}

/// The commands that draw one panel whose data blocks are already there.
std::string panel_commands(const std::string& name, const Panel& panel) {
  const Range range = range_of(panel);
  const auto heights = label_heights(panel, range);
  std::size_t longest = 0;
  for (const Series& series : panel.series) longest = std::max(longest, series.label.size());
  std::string text = "unset label\nunset logscale\nset format x '%g'\nset format y '%g'\n";
  Range across;
  for (const Series& series : panel.series) {
    for (const double value : series.x) across.include(value);
  }
  if (panel.log_x) {
    text += "set logscale x\nset xtics autofreq\n";
    if (across.high > 1e4 * across.low || across.high >= 1e5)
      text += "set format x '10^{%L}'\n";  // longer numbers would touch
  } else {
    text += fmt::format("set xtics {:g}\n", tic_step(across.high - std::min(0.0, across.low)));
  }
  text += fmt::format("set xrange [{:g}:{:g}]\n", panel.log_x ? across.low : std::min(0.0, across.low), across.high);
  if (panel.log_y) text += "set logscale y\nset format y '10^{%L}'\n";
  text += fmt::format("set yrange [{:.8g}:{:.8g}]\n", range.low, range.high);
  text += fmt::format("set title {} offset 0,-0.6\nset xlabel {} offset 0,0.4\nset ylabel {} offset 0.6,0\n",
                      gnuplot_quoted(panel.title), gnuplot_quoted(panel.x_label), gnuplot_quoted(panel.y_label));
  text += fmt::format("set rmargin {}\n", longest + 1);
  std::string bands;
  std::string lines;
  for (std::size_t k = 0; k < panel.series.size(); ++k) {
    const Series& series = panel.series[k];
    const std::string block = fmt::format("${}_{}", name, k);
    const std::string place =
        series.label_at_end && series.x.back() < across.high
            ? fmt::format("first {:.8g},{:.8g} center offset 0,0.6", series.x.back(), series.y.back())
            : fmt::format("graph 1.015,{:.4f} left", heights[k]);
    text += fmt::format("set label {} at {} noenhanced textcolor rgb '{}'\n", gnuplot_quoted(series.label), place,
                        series.colour);
    if (!series.low.empty()) {
      bands += fmt::format("{} using 1:3:4 with filledcurves fillcolor rgb '{}' fillstyle solid 0.18 noborder, ", block,
                           series.colour);
    }
    lines += fmt::format("{}{} using 1:2 with {} linecolor rgb '{}' linewidth 1.8{}{}", lines.empty() ? "" : ", ",
                         block, series.marks ? "linespoints" : "lines", series.colour,
                         series.dashed ? " dashtype (6,4)" : "", series.marks ? " pointtype 7 pointsize 0.35" : "");
  }
  return text + "plot " + bands + lines + '\n';
}

std::string size_of(const Figure& figure, bool single, double unit) {
  const auto count = single ? std::size_t{1} : figure.panels.size();
  const auto columns = single ? std::size_t{1} : figure.columns;
  const std::size_t rows = (count + columns - 1) / columns;
  return fmt::format("{:g},{:g}", unit * static_cast<double>(columns) * panel_width,
                     unit * static_cast<double>(rows) * panel_height);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string escaped(std::string_view text) {
  std::string result(text);
  replace_all(result, "&", "&amp;");
  replace_all(result, "<", "&lt;");
  replace_all(result, "\"", "&quot;");
  return result;
}

}  // namespace

std::string_view colour_of(std::string_view label) {
  const PolicyInfo* found = nullptr;
  for (const PolicyInfo& info : policy_table) {
    const bool longer = found == nullptr || info.name.size() > found->name.size();
    if (longer && label.starts_with(info.name)) found = &info;
  }
  return found != nullptr ? found->colour : "#455a64";
}

std::string gnuplot_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += c;
    if (c == '\'') result += c;
  }
  return result + "'";
}

std::string gnuplot_script(std::span<const Figure> figures) {
  std::string text =
      "set encoding utf8\nunset key\nset border 3 linewidth 0.8\nset tics nomirror out scale 0.5\n"
      "set grid ytics linewidth 0.4 linecolor rgb '#9aa0a6' dashtype (2,4)\n";
  for (const Figure& figure : figures) {
    std::string data;
    std::vector<std::string> commands;
    for (std::size_t panel = 0; panel < figure.panels.size(); ++panel) {
      std::string block = fmt::format("figure_{}_{}", figure.name, panel);
      std::replace(block.begin(), block.end(), '-', '_');
      for (std::size_t k = 0; k < figure.panels[panel].series.size(); ++k) {
        data += data_block(fmt::format("{}_{}", block, k), figure.panels[panel].series[k]);
      }
      commands.push_back(panel_commands(block, figure.panels[panel]));
    }
    text += fmt::format("\n# {}\n{}", figure.name, data);
    for (std::size_t panel = 0; panel < commands.size(); ++panel) {
      text += fmt::format("set terminal svg size {} dynamic font 'sans-serif,14' enhanced\nset output '{}-{}.svg'\n{}",
                          size_of(figure, true, 1.0), figure.name, panel + 1, commands[panel]);
    }
    const std::pair<std::string, std::string> whole[] = {
        {fmt::format("svg size {} font 'sans-serif,14' background rgb 'white' enhanced", size_of(figure, false, 1.0)),
         "svg"},
        {fmt::format("pdfcairo size {} font 'sans,11' enhanced", size_of(figure, false, 0.01)), "pdf"}};
    const std::size_t rows = (figure.panels.size() + figure.columns - 1) / figure.columns;
    for (const auto& [terminal, extension] : whole) {
      text += fmt::format("set terminal {}\nset output '{}.{}'\nset multiplot layout {},{}\n", terminal, figure.name,
                          extension, rows, figure.columns);
      for (const std::string& each : commands) text += each;
      text += "unset multiplot\nunset output\n";
    }
  }
  return text;
}

std::string inline_svg(std::string_view svg, std::string_view name, std::string_view description) {
  const std::size_t begin = svg.find("<svg");
  std::string text(begin == std::string_view::npos ? svg : svg.substr(begin));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (const char* black :
       {"stroke='black'", "stroke=\"black\"", "stroke='rgb(  0,   0,   0)'", "stroke=\"rgb(  0,   0,   0)\""}) {
    replace_all(text, black, "stroke=\"currentColor\"");
  }
  for (const char* black :
       {"fill='black'", "fill=\"black\"", "fill = 'rgb(  0,   0,   0)'", "fill=\"rgb(  0,   0,   0)\""}) {
    replace_all(text, black, "fill=\"currentColor\"");
  }
  for (const char* attribute : {"id=\"", "xlink:href='#", "url(#", "href=\"#"}) {
    replace_all(text, attribute, fmt::format("{}{}-", attribute, name));
  }
  for (const char* colour : {"black", "gray", "#FFFFFF"}) replace_all(text, fmt::format(" color=\"{}\"", colour), "");
  const std::size_t title = text.find("<title>");
  if (title != std::string::npos) text.erase(title, text.find("</title>") + 8 - title);
  text.insert(4, fmt::format(" role=\"img\" aria-label=\"{}\"", escaped(description)));
  return text;
}

void write_csv(std::ostream& out, const Figure& figure) {
  out << "figure,panel,series,x,y,low,high\n";
  for (const Panel& panel : figure.panels) {
    for (const Series& series : panel.series) {
      for (std::size_t k = 0; k < series.x.size(); ++k) {
        out << fmt::format("{},\"{}\",\"{}\",{},{},{},{}\n", figure.name, panel.title, series.label, series.x[k],
                           series.y[k], series.low.empty() ? "" : fmt::format("{}", series.low[k]),
                           series.high.empty() ? "" : fmt::format("{}", series.high[k]));
      }
    }
  }
}

}  // namespace goblin::report
