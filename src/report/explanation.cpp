#include "goblin/report/explanation.hpp"

#include "goblin/report/html.hpp"
#include "goblin/report/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace goblin::report {
namespace {

using Colour = std::array<double, 3>;
constexpr Colour more{43, 131, 224};
constexpr Colour less{224, 102, 42};
constexpr Colour none{238, 240, 243};
constexpr std::string_view soft = "#5f6670";
constexpr double width = 640;

/// The colour of a contribution between -largest and largest.
std::string colour_for(double value, double largest) {
  const double share = largest > 0.0 ? std::min(1.0, std::abs(value) / largest) : 0.0;
  const Colour& end = value < 0.0 ? less : more;
  std::array<int, 3> mixed{};
  for (std::size_t k = 0; k < mixed.size(); ++k) {
    mixed[k] = static_cast<int>(std::lround(none[k] + share * (end[k] - none[k])));
  }
  return fmt::format("#{:02x}{:02x}{:02x}", mixed[0], mixed[1], mixed[2]);
}

/// How many bytes of a text are the UTF-8 of one character that XML may have; 0 if they are none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U; };
  const auto goes_on = [&](std::size_t k) { return (byte(k) & 0xC0U) == 0x80U; };
  if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7F ? 1 : 0;
  if (byte(0) >= 0xC2 && byte(0) < 0xE0) return goes_on(1) && !(byte(0) == 0xC2 && byte(1) < 0xA0) ? 2 : 0;
  if (byte(0) >= 0xE0 && byte(0) < 0xF0) {
    const bool overlong = byte(0) == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = byte(0) == 0xED && byte(1) >= 0xA0;
    const bool no_character = byte(0) == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE;
    return goes_on(1) && goes_on(2) && !overlong && !surrogate && !no_character ? 3 : 0;
  }
  if (byte(0) >= 0xF0 && byte(0) < 0xF5) {
    const bool outside = (byte(0) == 0xF0 && byte(1) < 0x90) || (byte(0) == 0xF4 && byte(1) >= 0x90);
    return goes_on(1) && goes_on(2) && goes_on(3) && !outside ? 4 : 0;
  }
  return 0;
}

/// A name as XML can have it: names may be any bytes, and long.
std::string shown(std::string_view name) {
  constexpr std::size_t longest = 20;  // characters
  std::string result;
  for (std::size_t count = 0; !name.empty(); ++count) {
    if (count == longest) {
      result += "\u2026";
      break;
    }
    const std::size_t length = character_length(name);
    result += length == 0 ? std::string_view("\uFFFD") : name.substr(0, length);
    name.remove_prefix(std::max<std::size_t>(1, length));
  }
  return html_escaped(result);
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view fill, double size,
                    std::string_view text) {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\" font-size=\"{:g}\" stroke=\"#ffffff\" "
      "stroke-width=\"3\" paint-order=\"stroke\">{}</text>\n",
      x, y, anchor, fill, size, text);
}

std::string per_cent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

}  // namespace

std::string name_of_node(NodeId node, bool is_cluster) {
  return is_cluster ? fmt::format("cluster {}", node) : "everybody";
}

NameOf names_in(const Bandit& bandit, const Explanation& explanation) {
  if (explanation.per_node) {
    const bool clusters = has_clusters(bandit.policy());
    return [clusters](NodeId node) { return name_of_node(node, clusters); };
  }
  return [graph = bandit.graph()](NodeId user) {
    return graph.has_names() ? std::string(graph.names()[user]) : fmt::format("{}", user);
  };
}

std::string table(const Explanation& explanation, const NameOf& name_of) {
  const WidthShares& shares = explanation.width_shares;
  const bool is_local = explanation.engine == EngineKind::local;
  const std::string whose = explanation.per_node ? "node's own" : "own";
  std::string text = fmt::format("mean {:.6g}, width {:.6g}\n", explanation.mean, explanation.width);
  text += fmt::format("the width's square: {} from noise in {} rewards, {} from that in others', {} from the prior",
                      per_cent(shares.own), whose, per_cent(shares.others), per_cent(shares.prior));
  text += is_local ? fmt::format(", {} unexplained\n\n", per_cent(shares.unexplained)) : "\n\n";
  std::vector<TableRow> rows = {{explanation.per_node ? "node" : "user", "contribution", "at most off by", "rewards"}};
  const auto number = [](double value) { return fmt::format("{:.6f}", value); };
  const auto bound = [&](double value) { return is_local ? fmt::format("{:.6f}", value) : std::string("-"); };
  for (const Contribution& one : explanation.contributions) {
    rows.push_back({name_of(one.user), number(one.value), bound(one.bound), fmt::format("{}", one.rewards)});
  }
  if (explanation.rest_count > 0) {
    rows.push_back({fmt::format("{} other{}", explanation.rest_count, explanation.rest_count == 1 ? "" : "s"),
                    number(explanation.rest), "-", "-"});
  }
  text += rows.size() > 1 ? aligned(rows) : "nobody's rewards count for this\n";
  if (is_local) text += fmt::format("\nunexplained: at most {:.6f}\n", explanation.unexplained);
  return text;
}

std::string svg(const Explanation& explanation, const NameOf& name_of) {
  constexpr double margin = 70;
  constexpr double longest_unit = 130;  // from a ring to the next
  constexpr double radius = 17;         // of those who contribute
  constexpr double small_radius = 6;    // of those on the way
  constexpr double thinnest = 1;
  constexpr double thickest = 4;
  const std::vector<ExplanationPlace> places = places_of(explanation);
  double largest = 0.0;
  double left = 0.0;  // the corners of all places
  double right = 0.0;
  double top = 0.0;
  double bottom = 0.0;
  for (const ExplanationPlace& place : places) {
    largest = std::max(largest, std::abs(place.value));
    left = std::min(left, place.x);
    right = std::max(right, place.x);
    top = std::min(top, place.y);
    bottom = std::max(bottom, place.y);
  }
  const double unit = std::min((width - 2 * margin) / std::max({right - left, bottom - top, 0.1}), longest_unit);
  const double height = unit * (bottom - top) + 2 * margin;  // of the graph; the scale comes below
  std::map<NodeId, std::pair<double, double>> at;
  for (const ExplanationPlace& place : places) {
    at[place.user] = {width / 2 + unit * (place.x - (left + right) / 2), margin + unit * (place.y - top)};
  }
  double heaviest = 0.0;
  for (const Edge& edge : explanation.edges) heaviest = std::max(heaviest, edge.weight);

  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" "
      "font-family=\"sans-serif\">\n<rect width=\"{0:g}\" height=\"{1:g}\" fill=\"#ffffff\"/>\n",
      width, height + 80);
  text += text_at(width / 2, 26, "middle", "#1c1e21", 16,
                  fmt::format("{}: mean {:.4g}, width {:.4g}", shown(name_of(explanation.own)), explanation.mean,
                              explanation.width));
  for (const Edge& edge : explanation.edges) {
    const auto [x1, y1] = at.at(edge.a);
    const auto [x2, y2] = at.at(edge.b);
    text += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#bcc2c9\" stroke-width=\"{:.1f}\">"
        "<title>weight {:.4g}</title></line>\n",
        x1, y1, x2, y2, thinnest + (thickest - thinnest) * edge.weight / heaviest, edge.weight);
  }
  for (const ExplanationPlace& place : places) {
    const auto [x, y] = at.at(place.user);
    const bool is_own = place.user == explanation.own;
    const bool large = place.contributes || is_own;
    const std::string name = shown(name_of(place.user));
    text += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"{:g}\"/>\n", x, y,
        large ? radius : small_radius, colour_for(place.value, largest), is_own ? "#1c1e21" : soft, is_own ? 2.5 : 1.0);
    const double below = y + (large ? radius : small_radius) + 14;
    text += text_at(x, below, "middle", large ? "#1c1e21" : soft, 13, name);
    if (place.contributes) text += text_at(x, below + 14, "middle", soft, 11, fmt::format("{:+.3g}", place.value));
  }
  // The scale of the colours.
  constexpr double scale_width = 240;
  const double scale_left = (width - scale_width) / 2;
  text += fmt::format(
      "<defs><linearGradient id=\"scale\"><stop offset=\"0\" stop-color=\"{}\"/><stop offset=\"0.5\" "
      "stop-color=\"{}\"/>"
      "<stop offset=\"1\" stop-color=\"{}\"/></linearGradient></defs>\n"
      "<rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"10\" fill=\"url(#scale)\"/>\n",
      colour_for(-1.0, 1.0), colour_for(0.0, 1.0), colour_for(1.0, 1.0), scale_left, height + 20, scale_width);
  text += text_at(scale_left, height + 45, "middle", soft, 11, fmt::format("{:+.3g}", -largest));
  text += text_at(width / 2, height + 45, "middle", soft, 11, "0");
  text += text_at(scale_left + scale_width, height + 45, "middle", soft, 11, fmt::format("{:+.3g}", largest));
  text += text_at(width / 2, height + 64, "middle", soft, 12,
                  "contribution to the mean; an edge is as thick as its weight");
  return text + "</svg>\n";
}

}  // namespace goblin::report
