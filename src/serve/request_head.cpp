#include "serve/request_head.hpp"

#include "serve/peers.hpp"
#include "serve/requests.hpp"

#include <algorithm>

namespace goblin::serve {

namespace http = boost::beast::http;

void RequestHead::clear() {
  method = http::verb::unknown;
  for (auto* text : {&method_name, &target, &host, &authorization, &content_type, &content_encoding, &request_id,
                     &none_match, &partition}) {
    text->clear();
  }
  is_http_1_0 = false;
  hosts = 0;
  expects_continue = false;
  has_length = false;
  is_coded = false;
  has_strange_coding = false;
}

void RequestParser::on_request_impl(http::verb method, View name, View target, int version, Error& /*error*/) {
  head_.method = method;
  head_.method_name.assign(name.data(), name.size());
  head_.target.assign(target.data(), target.size());
  head_.is_http_1_0 = version == 10;
}

void RequestParser::on_field_impl(http::field field, View name, View value, Error& /*error*/) {
  if (head_done_) return;  // behind a body in chunks; nothing there counts
  const auto take = [&](std::string& text) { text.assign(value.data(), value.size()); };
  switch (field) {
    case http::field::host:
      ++head_.hosts;
      take(head_.host);
      break;
    case http::field::authorization:
      // Two of them name no key.
      if (head_.authorization.empty()) {
        take(head_.authorization);
      } else {
        head_.authorization = "two";
      }
      break;
    case http::field::content_type:
      take(head_.content_type);
      break;
    case http::field::content_encoding:
      take(head_.content_encoding);
      break;
    case http::field::if_none_match:
      take(head_.none_match);
      break;
    case http::field::expect:
      head_.expects_continue = boost::beast::iequals(value, "100-continue");
      break;
    case http::field::transfer_encoding:
      if (head_.is_coded || head_.is_http_1_0 || !boost::beast::iequals(value, "chunked")) {
        head_.has_strange_coding = true;
      }
      head_.is_coded = true;
      head_.has_length = true;
      break;
    case http::field::content_length:
      head_.has_length = true;
      break;
    case http::field::unknown:
      if (boost::beast::iequals(name, "X-Request-Id")) take(head_.request_id);
      if (boost::beast::iequals(name, partition_field)) take(head_.partition);
      break;
    default:
      break;
  }
}

void RequestParser::on_header_impl(Error& /*error*/) { head_done_ = true; }

void RequestParser::on_body_init_impl(const boost::optional<std::uint64_t>& length, Error& /*error*/) {
  // A length is only believed as far as bytes come; this much saves most bodies from being moved.
  constexpr std::uint64_t believed = std::uint64_t{1} << 16U;
  if (length && !discards_) body_.reserve(static_cast<std::size_t>(std::min(*length, believed)) + body_padding);
}

std::size_t RequestParser::on_body_impl(View bytes, Error& /*error*/) {
  if (!discards_) body_.append(bytes.data(), bytes.size());
  return bytes.size();
}

}  // namespace goblin::serve
