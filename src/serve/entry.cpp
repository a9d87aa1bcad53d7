#include "serve/entry.hpp"

#include "binary.hpp"
#include "goblin/error.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include <fmt/format.h>
#include <zlib.h>

namespace goblin::serve {
namespace {

constexpr std::string_view magic = "\x89GOR";
constexpr std::uint8_t version = 1;
// Which of a record's parts are there.
constexpr std::array<std::uint32_t, 13> bits = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

/// Whether a number differs from its usual value in any bit.
bool differs(double number, double usual) {
  return std::bit_cast<std::uint64_t>(number) != std::bit_cast<std::uint64_t>(usual);
}

void write(BinaryWriter& out, const Record& record) {
  const Record usual;
  const std::array<bool, bits.size()> there = {!record.event.empty(),
                                               record.decision != 0,
                                               !record.user.empty(),
                                               !record.other_user.empty(),
                                               !record.item.empty(),
                                               !record.context.empty(),
                                               differs(record.reward, usual.reward),
                                               differs(record.weight, usual.weight),
                                               record.arm != usual.arm,
                                               differs(record.probability, usual.probability),
                                               !record.candidates.empty(),
                                               !record.candidate_items.empty(),
                                               !record.scores.empty()};
  std::uint32_t parts = record.cluster ? std::uint32_t{1} << bits.size() : 0;
  for (std::size_t k = 0; k < bits.size(); ++k) parts |= there[k] ? bits[k] : 0;
  out.number(static_cast<std::uint8_t>(record.kind));
  out.number(parts);
  out.number(static_cast<std::uint64_t>(record.time));
  if (there[0]) out.text(record.event);
  if (there[1]) out.number(record.decision);
  if (there[2]) out.text(record.user);
  if (there[3]) out.text(record.other_user);
  if (there[4]) out.text(record.item);
  if (there[5]) out.array(record.context);
  if (there[6]) out.number(record.reward);
  if (there[7]) out.number(record.weight);
  if (there[8]) out.number(record.arm);
  if (there[9]) out.number(record.probability);
  if (there[10]) out.text(record.candidates);
  if (there[11]) out.text(record.candidate_items);
  if (there[12]) out.text(record.scores);
  if (record.cluster) out.number(static_cast<std::uint32_t>(*record.cluster));
}

Record read(BinaryReader& in) {
  Record record;
  const auto kind = in.number<std::uint8_t>();
  in.expect(kind >= 1 && kind <= static_cast<std::uint8_t>(RecordKind::evidence), "a kind of record");
  record.kind = static_cast<RecordKind>(kind);
  const auto parts = in.number<std::uint32_t>();
  in.expect(parts >> (bits.size() + 1) == 0, "the parts of a record");
  const auto has = [&](std::size_t part) { return (parts & bits[part]) != 0; };
  record.time = static_cast<std::int64_t>(in.number<std::uint64_t>());
  if (has(0)) record.event = in.text();
  if (has(1)) record.decision = in.number<std::uint64_t>();
  if (has(2)) record.user = in.text();
  if (has(3)) record.other_user = in.text();
  if (has(4)) record.item = in.text();
  if (has(5)) record.context = in.array<double>();
  if (has(6)) record.reward = in.number<double>();
  if (has(7)) record.weight = in.number<double>();
  if (has(8)) record.arm = in.number<std::uint32_t>();
  if (has(9)) record.probability = in.number<double>();
  if (has(10)) record.candidates = in.text();
  if (has(11)) record.candidate_items = in.text();
  if (has(12)) record.scores = in.text();
  if ((parts >> bits.size()) != 0) record.cluster = in.number<std::uint32_t>();
  return record;
}

}  // namespace

std::string bytes_of(const Entry& entry) {
  std::string bytes(magic);
  BinaryWriter out([&bytes](const char* some, std::size_t size) { bytes.append(some, size); });
  out.number(version);
  out.text(entry.founding);
  out.number(entry.begin);
  out.size(entry.records.size());
  for (const Record& record : entry.records) write(out, record);
  out.number(checksum(bytes));
  return bytes;
}

Entry entry_of(std::string_view bytes) {
  constexpr std::size_t head = 5;
  constexpr std::size_t tail = 4;
  if (bytes.size() < head || !bytes.starts_with(magic)) throw BadEntry("it is not goblin's");
  const auto its_version = static_cast<std::uint8_t>(bytes[magic.size()]);
  if (its_version > version) {
    throw BadEntry(fmt::format("it is of version {}, and this goblin reads version {}", its_version, version), true);
  }
  if (its_version < version || bytes.size() < head + tail) throw BadEntry("it was altered");
  const std::string_view content = bytes.substr(0, bytes.size() - tail);
  BinaryReader end(std::span(bytes.substr(content.size())), "");
  if (end.number<std::uint32_t>() != checksum(content)) throw BadEntry("it was altered");
  try {
    BinaryReader in(std::span(content.substr(head)), "entry");
    Entry entry;
    entry.founding = in.text();
    entry.begin = in.number<std::uint64_t>();
    // A record takes a dozen bytes at the least.
    const std::size_t count = in.size(content.size(), "how many records there are");
    for (std::size_t k = 0; k < count; ++k) entry.records.push_back(read(in));
    in.expect(in.left() == 0, "bytes behind its end");
    return entry;
  } catch (const DataError& error) {
    throw BadEntry(error.reason());
  }
}

}  // namespace goblin::serve
