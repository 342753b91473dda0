// Streams of C++ and their strings: each rank writes a file of its own and reads it. Any number of ranks.
#include "../check.h"
#include <fstream>
#include <string>

int main(int argc, char **argv) {
    start(&argc, &argv, 1);
    const std::string name = "streams." + std::to_string(rank);
    {
        std::ofstream file(name);
        for (int at = 0; at < 10000; at++) file << "line " << 10000 + at << '\n';
    }
    std::ifstream file(name);
    std::string line;
    int count = 0;
    while (std::getline(file, line)) count++;
    CHECK(count == 10000);
    finish();
    return 0;
}
