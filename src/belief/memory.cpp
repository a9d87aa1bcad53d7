#include "belief/memory.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <unistd.h>

#include <fmt/format.h>

namespace goblin {
namespace {

/// What this process can still take: the free memory of the machine, or of its control group if that is less.
std::size_t free_memory() {
  std::size_t available = std::numeric_limits<std::size_t>::max();
  std::ifstream meminfo("/proc/meminfo");
  for (std::string word; meminfo >> word;) {
    if (word != "MemAvailable:") continue;
    std::size_t kibibytes = 0;
    if (meminfo >> kibibytes) available = kibibytes * 1024;
    break;
  }
  if (available == std::numeric_limits<std::size_t>::max()) {
    available = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }
  const auto number_in = [](const char* file, std::size_t& value) { return bool(std::ifstream(file) >> value); };
  std::size_t limit = 0;
  std::size_t used = 0;
  if (number_in("/sys/fs/cgroup/memory.max", limit) && number_in("/sys/fs/cgroup/memory.current", used)) {
    available = std::min(available, limit > used ? limit - used : 0);
  }
  return available;
}

}  // namespace

std::size_t available_bytes(const EngineOptions& options) {
  return options.memory_limit > 0 ? options.memory_limit : free_memory();
}

std::string readable_bytes(std::size_t bytes) {
  static constexpr const char* units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000.0 && unit + 1 < std::size(units)) {
    value /= 1000.0;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {} ({} bytes)", value, units[unit], bytes);
}

}  // namespace goblin
