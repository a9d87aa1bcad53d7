#pragma once

#include "serve/service.hpp"

#include <string>

/// The problems that a request can have before it reaches the service, one function each: the type and title belong
/// together and stand here only. The detail names the field, its value and its bound.
namespace goblin::serve::problems {

[[nodiscard]] Problem malformed_request(std::string detail);  ///< 400: not HTTP as it should be
[[nodiscard]] Problem malformed_json(std::string detail);     ///< 400
[[nodiscard]] Problem unknown_field(std::string detail);      ///< 400
[[nodiscard]] Problem missing_field(std::string detail);      ///< 400
[[nodiscard]] Problem invalid_field(std::string detail);      ///< 400
[[nodiscard]] Problem wrong_dimension(std::string detail);    ///< 400
[[nodiscard]] Problem invalid_parameter(std::string detail);  ///< 400: of the path or the query
[[nodiscard]] Problem key_needed(std::string detail);         ///< 401
[[nodiscard]] Problem not_allowed(std::string detail);        ///< 403
[[nodiscard]] Problem foreign_host(std::string detail);       ///< 403
[[nodiscard]] Problem unknown_path(std::string detail);       ///< 404
[[nodiscard]] Problem wrong_method(std::string detail);       ///< 405
[[nodiscard]] Problem too_slow(std::string detail);           ///< 408
[[nodiscard]] Problem length_needed(std::string detail);      ///< 411
[[nodiscard]] Problem body_too_large(std::string detail);     ///< 413
[[nodiscard]] Problem not_json(std::string detail);           ///< 415
[[nodiscard]] Problem head_too_large(std::string detail);     ///< 431
[[nodiscard]] Problem failure(std::string detail);            ///< 500
[[nodiscard]] Problem busy(std::string detail);               ///< 503, try again
[[nodiscard]] Problem not_ready(std::string detail);          ///< 503, try again

}  // namespace goblin::serve::problems
