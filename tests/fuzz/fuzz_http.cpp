// Any bytes are requests or not, the same ones however they are cut into pieces, with bodies within their limit; and
// any path has a route or none.

#include "serve/addresses.hpp"
#include "serve/request_head.hpp"
#include "serve/routes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>

namespace {

using namespace goblin::serve;

constexpr std::size_t most_body_bytes = 64;

struct Parsed {
  RequestHead head;
  std::string body;
  bool failed = false;
  bool done = false;
};

/// As a connection does it: the head at once, the body in pieces.
Parsed parse(std::string_view bytes, std::size_t piece) {
  Parsed parsed;
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) return parsed;
  RequestParser parser(parsed.head, parsed.body);
  parser.body_limit(most_body_bytes);
  parser.eager(true);
  boost::beast::error_code error;
  parser.put(boost::asio::const_buffer(bytes.data(), end + 4), error);
  parsed.failed = error && error != boost::beast::http::error::need_more;
  std::string buffer;
  for (std::size_t at = end + 4; at < bytes.size() && !parsed.failed && !parser.is_done();) {
    const std::size_t count = std::min(piece, bytes.size() - at);
    buffer += bytes.substr(at, count);
    at += count;
    buffer.erase(0, parser.put(boost::asio::const_buffer(buffer.data(), buffer.size()), error));
    parsed.failed = error && error != boost::beast::http::error::need_more;
  }
  parsed.done = !parsed.failed && parser.is_done();
  return parsed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Parsed whole = parse(bytes, size + 1);
  const Parsed cut = parse(bytes, 3);
  if (whole.body.size() > most_body_bytes) std::abort();
  if (whole.done && (!cut.done || cut.body != whole.body)) std::abort();
  std::array<std::string, 2> names;
  const std::string_view path = std::string_view(whole.head.target).substr(0, whole.head.target.find('?'));
  try {
    const Match match = find_route(whole.head.method, path, names);
    if (match.known_path == allowed_methods(path).empty()) std::abort();
  } catch (const AddressError&) {
  }
  try {
    static_cast<void>(Query(bytes.substr(0, 40), {"from", "partition"}).number("from", 1, 0, 100));
  } catch (const AddressError&) {
  }
  return 0;
}
