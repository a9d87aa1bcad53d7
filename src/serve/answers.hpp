#pragma once

#include "serve/service.hpp"

#include <span>
#include <string>
#include <string_view>

/// What the calls give, as JSON. Each appends to a text, so that its memory can be used again.
namespace goblin::serve::answers {

void append(std::string& out, const Decided& decided);
void append(std::string& out, const RankedPlaces& ranked);
void append(std::string& out, const Accepted& accepted);
void append(std::string& out, std::span<const Result<Accepted>> results, Offset learned);
void append(std::string& out, const ItemView& item);
void append(std::string& out, const UserView& user);
void append(std::string& out, const Explanation& explanation, const Service& service);
/// The newest records, for the dashboard.
void append(std::string& out, std::span<const Record> records);
/// The members of the status, with commas between them and without braces: others are put beside them.
void append_members(std::string& out, const Status& status);
/// RFC 9457. The instance is the request's id.
void append(std::string& out, const Problem& problem, std::string_view instance);

}  // namespace goblin::serve::answers
