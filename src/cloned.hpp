#pragma once

#include <memory>
#include <utility>

namespace goblin {

/// A pointer to a T of some kind, or to nothing. A copy points to a copy (T::clone).
template <typename T>
class Cloned {
 public:
  Cloned() = default;
  Cloned(std::unique_ptr<T> value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Cloned(const Cloned& other) : value_(other.value_ ? other.value_->clone() : nullptr) {}
  Cloned& operator=(const Cloned& other) {
    if (this != &other) value_ = other.value_ ? other.value_->clone() : nullptr;
    return *this;
  }
  Cloned(Cloned&&) noexcept = default;
  Cloned& operator=(Cloned&&) noexcept = default;
  ~Cloned() = default;

  explicit operator bool() const { return value_ != nullptr; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace goblin
