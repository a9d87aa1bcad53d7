#include "belief/memory.hpp"

#include "belief/byte_count.hpp"
#include "goblin/error.hpp"

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

std::size_t available_bytes(const EngineOptions& options, const std::function<std::size_t()>& taken) {
  const std::size_t available = available_bytes(options);
  return options.memory_limit > 0 ? available - std::min(available, taken()) : available;
}

void check_memory(std::string_view work, double needed, const EngineOptions& options,
                  const std::function<std::size_t()>& taken,
                  const std::function<std::string(std::size_t available)>& what_fits) {
  constexpr double little = 1e7;  // not worth to ask the machine what it has
  if (options.memory_limit == 0 && needed < little) return;
  const std::size_t available = available_bytes(options, taken);
  const std::size_t bytes = byte_count(needed);
  if (bytes <= available) return;
  throw CapacityError(fmt::format("{} needs {}, more than the {} there are; {}", work, readable_bytes(bytes),
                                  readable_bytes(available), what_fits(available)),
                      bytes, available);
}

std::size_t most_that_fit(std::size_t most, std::size_t available,
                          const std::function<double(std::size_t count)>& bytes) {
  std::size_t fits = 0;
  for (std::size_t beyond = most + 1; beyond - fits > 1;) {
    const std::size_t middle = fits + (beyond - fits) / 2;
    (byte_count(bytes(middle)) <= available ? fits : beyond) = middle;
  }
  return fits;
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
