#include "fetch.hpp"

#include "goblin/error.hpp"
#include "progress.hpp"
#include "release.hpp"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <cstdio>
#include <curl/curl.h>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

namespace goblin::app {
namespace {

constexpr int attempts = 5;
/// More than both datasets take by far; an archive that unpacks to more is none of them.
constexpr std::uint64_t unpacked_limit = std::uint64_t{2} << 30U;

bool is_url(const std::string& text) { return text.find("://") != std::string::npos; }

// --- downloading

struct Download {
  std::ofstream out;
  std::uint64_t begin = 0;  // bytes that were there before
  Progress* progress = nullptr;
};

std::size_t on_bytes(const char* bytes, std::size_t /*one*/, std::size_t count, void* user) {
  auto& download = *static_cast<Download*>(user);
  download.out.write(bytes, static_cast<std::streamsize>(count));
  return download.out ? count : 0;
}

int on_progress(void* user, curl_off_t total, curl_off_t done, curl_off_t /*to send*/, curl_off_t /*sent*/) {
  const auto& download = *static_cast<Download*>(user);
  if (total > 0) download.progress->set_total(download.begin + static_cast<std::uint64_t>(total));
  download.progress->show(download.begin + static_cast<std::uint64_t>(done));
  return 0;
}

struct Answer {
  CURLcode code = CURLE_OK;
  long status = 0;
};

/// One attempt to get what is missing of a file.
Answer get_rest(const std::string& url, const std::filesystem::path& part, bool https_only, Progress& progress) {
  Download download;
  std::error_code none;
  const auto size = std::filesystem::file_size(part, none);
  download.begin = none ? 0 : size;
  download.out.open(part, std::ios::binary | std::ios::app);
  if (!download.out) throw std::runtime_error(fmt::format("{}: the file cannot be written", part.string()));
  download.progress = &progress;

  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), &curl_easy_cleanup);
  if (!curl) throw std::runtime_error("libcurl cannot be started");
  const char* protocols = https_only ? "https" : "http,https";
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, protocols);
  curl_easy_setopt(curl.get(), CURLOPT_REDIR_PROTOCOLS_STR, protocols);
  curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, 30L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_TIME, 60L);
  curl_easy_setopt(curl.get(), CURLOPT_USERAGENT, "goblin");
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &on_bytes);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &download);
  curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, &on_progress);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &download);
  if (download.begin > 0) {
    curl_easy_setopt(curl.get(), CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(download.begin));
  }
  Answer answer;
  answer.code = curl_easy_perform(curl.get());
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &answer.status);
  return answer;
}

void download_to(const std::string& url, const std::filesystem::path& part, bool https_only) {
  Progress progress("bytes", 0);
  Answer answer;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    answer = get_rest(url, part, https_only, progress);
    if (answer.code == CURLE_OK) return;
    const bool broken = answer.code == CURLE_PARTIAL_FILE || answer.code == CURLE_RECV_ERROR ||
                        answer.code == CURLE_GOT_NOTHING || answer.code == CURLE_OPERATION_TIMEDOUT;
    // The server does not send parts, or what is there is not a part of what it has: from the start, then.
    const bool from_start = answer.code == CURLE_RANGE_ERROR || answer.status == 416;
    if (from_start) std::filesystem::remove(part);
    if (!broken && !from_start) break;
  }
  std::error_code none;
  const auto kept = std::filesystem::file_size(part, none);
  if (none || kept == 0) std::filesystem::remove(part, none);
  const std::string status = answer.status >= 400 ? fmt::format(" (status {})", answer.status) : "";
  const std::string rest =
      !none && kept > 0 ? fmt::format("; {} bytes are kept, and the same command goes on from there", kept) : "";
  throw std::runtime_error(fmt::format("{}: {}{}{}", url, curl_easy_strerror(answer.code), status, rest));
}

// --- unpacking

struct ReadArchive {
  archive* handle = archive_read_new();
  ReadArchive() = default;
  ReadArchive(const ReadArchive&) = delete;
  ReadArchive& operator=(const ReadArchive&) = delete;
  ~ReadArchive() { archive_read_free(handle); }
};

bool stays_inside(const std::filesystem::path& path) {
  return !path.empty() && path.is_relative() &&
         std::none_of(path.begin(), path.end(), [](const std::filesystem::path& part) { return part == ".."; });
}

/// Where the files of a release are in an unpacked archive: at its top, or in a folder there.
std::filesystem::path find_files(const std::filesystem::path& unpacked, const Release& release) {
  std::vector<std::filesystem::path> places = {unpacked};
  for (const auto& entry : std::filesystem::directory_iterator(unpacked)) {
    if (entry.is_directory()) places.push_back(entry.path());
  }
  for (const auto& place : places) {
    if (check_files(place, release).missing.empty()) return place;
  }
  return {};
}

void unpack_checked(const std::filesystem::path& archive, const std::filesystem::path& target, const Release& release,
                    bool unchecked) {
  const std::filesystem::path staging = target.string() + ".unpacking";
  std::filesystem::remove_all(staging);
  std::filesystem::create_directories(staging);
  struct RemoveAtEnd {
    const std::filesystem::path& path;
    ~RemoveAtEnd() {
      std::error_code none;
      std::filesystem::remove_all(path, none);
    }
  } const remove{staging};
  unpack(archive, staging);
  const auto place = find_files(staging, release);
  if (place.empty()) {
    throw DataError(archive.string(), 0, fmt::format("not all files of {} are in it", release.folder));
  }
  const FileCheck check = check_files(place, release);
  if (!check.changed.empty() && !unchecked) {
    throw DataError(archive.string(), 0,
                    fmt::format("{} is not the file that was published: its SHA-256 differs (--unchecked takes it)",
                                fmt::join(check.changed, ", ")));
  }
  std::filesystem::rename(place, target);
}

std::string by_hand(const Release& release, const std::filesystem::path& folder) {
  return fmt::format(
      "To place the files by hand: get {} with a browser or from a mirror, then run\n"
      "  goblin data fetch {} --from FILE\nor unpack it into {}",
      release.url, release.name, (folder / release.folder).string());
}

}  // namespace

void unpack(const std::filesystem::path& archive, const std::filesystem::path& folder) {
  const ReadArchive reader;
  archive_read_support_format_zip(reader.handle);
  const auto fail = [&](const std::string& reason) { throw DataError(archive.string(), 0, reason); };
  const auto check = [&](la_ssize_t result) {
    if (result < ARCHIVE_WARN) fail(fmt::format("cannot be unpacked: {}", archive_error_string(reader.handle)));
  };
  check(archive_read_open_filename(reader.handle, archive.c_str(), std::size_t{1} << 16U));
  std::uint64_t total = 0;
  std::vector<char> block(std::size_t{1} << 16U);
  archive_entry* entry = nullptr;
  for (int result = 0; (result = archive_read_next_header(reader.handle, &entry)) != ARCHIVE_EOF;) {
    check(result);
    const char* name = archive_entry_pathname(entry);
    const std::filesystem::path path = name != nullptr ? name : "";
    if (!stays_inside(path)) fail(fmt::format("its entry '{}' would leave the folder", path.string()));
    const auto type = archive_entry_filetype(entry);
    if (type == AE_IFDIR) continue;
    if (type != AE_IFREG) fail(fmt::format("its entry '{}' is no plain file", path.string()));
    std::filesystem::create_directories((folder / path).parent_path());
    std::ofstream out(folder / path, std::ios::binary);
    for (la_ssize_t count = 0; (count = archive_read_data(reader.handle, block.data(), block.size())) != 0;) {
      check(count);
      out.write(block.data(), count);
      total += static_cast<std::uint64_t>(count);
      if (total > unpacked_limit) fail(fmt::format("it unpacks to more than {} bytes", unpacked_limit));
    }
    out.close();
    if (!out) throw std::runtime_error(fmt::format("{}: the file cannot be written", (folder / path).string()));
  }
}

std::string fetch(const FetchRequest& request, const std::filesystem::path& folder) {
  const Release& release = release_named(request.dataset);
  const auto target = folder / release.folder;
  if (std::filesystem::exists(target)) {
    const FileCheck check = check_files(target, release);
    if (!check.missing.empty() || !check.changed.empty()) {
      throw std::runtime_error(
          fmt::format("{}: is there already, but not as it was published; move it away first", target.string()));
    }
    return fmt::format("{}: is there already, and its files are those that were published", target.string());
  }
  std::filesystem::create_directories(folder);
  if (!request.from.empty() && !is_url(request.from)) {
    unpack_checked(request.from, target, release, request.unchecked);
    return fmt::format("{}: unpacked from {}", target.string(), request.from);
  }

  const std::string url = request.from.empty() ? std::string(release.url) : request.from;
  const std::filesystem::path part = target.string() + ".zip.part";
  try {
    download_to(url, part, request.from.empty());
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}\n{}", error.what(), by_hand(release, folder)));
  }
  try {
    unpack_checked(part, target, release, request.unchecked);
  } catch (const DataError& error) {  // what came is not what was wanted: the next call starts anew
    std::filesystem::remove(part);
    throw DataError(url, 0, fmt::format("{}\n{}", error.reason(), by_hand(release, folder)));
  }
  std::filesystem::remove(part);
  return fmt::format("{}: downloaded from {}", target.string(), url);
}

}  // namespace goblin::app
