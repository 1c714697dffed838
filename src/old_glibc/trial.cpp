// A program with what all others need of the C++ library, by which CMake tries whether this
// compiler links for an older glibc.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <exception>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>

int main(int count, char** words) {
  std::mutex mutex;
  std::condition_variable changed;
  std::thread other([&] { changed.notify_all(); });
  other.join();
  std::unique_lock lock(mutex);
  changed.wait_for(lock, std::chrono::milliseconds(count));
  try {
    std::cout << std::filesystem::file_size(words[0]) << std::stoi(words[0]);
  } catch (const std::exception& error) {
    std::puts(error.what());
  }
  std::ifstream file(words[0]);
  return file.good() ? 0 : 1;
}
