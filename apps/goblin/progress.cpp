#include "progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace goblin::app {
namespace {

constexpr auto interval = std::chrono::milliseconds(100);
constexpr std::size_t bar_width = 30;

std::string time_left(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

}  // namespace

Progress::Progress(std::string unit, std::uint64_t total)
    : unit_(std::move(unit)),
      total_(total),
      terminal_(::isatty(STDERR_FILENO) == 1),
      begin_(Clock::now()),
      drawn_(begin_) {}

Progress::~Progress() {
  if (terminal_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::show(std::uint64_t done) {
  if (!terminal_) return;
  const std::unique_lock lock(drawing_, std::try_to_lock);
  const auto now = Clock::now();
  if (!lock || now - drawn_ < interval) return;
  drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const double rate = static_cast<double>(done - std::min<std::uint64_t>(done, skipped_)) / seconds;
  const std::uint64_t total = total_;
  const bool bytes = unit_ == "bytes";
  const std::string speed = bytes ? fmt::format("{:.1f} MB, {:.1f} MB/s", static_cast<double>(done) / 1e6, rate / 1e6)
                                  : fmt::format("{} {}, {:.{}f}/s", done, unit_, rate, rate < 10.0 ? 1 : 0);
  if (total == 0) {
    fmt::print(stderr, "\r\x1b[K{}", speed);
  } else {
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    const auto filled = static_cast<std::size_t>(share * static_cast<double>(bar_width));
    const double left = rate > 0.0 ? static_cast<double>(total - std::min(done, total)) / rate : 0.0;
    fmt::print(stderr, "\r\x1b[K[{:#<{}}{:.<{}}] {:3.0f} %  {}, {} left", "", filled, "", bar_width - filled,
               100.0 * share, speed, time_left(left));
  }
  std::fflush(stderr);
}

}  // namespace goblin::app
