// Learns or judges message files with terminator: MODEL < lines of "ham PATH", "spam PATH" or "? PATH".
#include <fstream>
#include <iostream>
#include "terminator.h"
int main(int, char **argv) {
    Terminator filter(argv[1], 5 << 23);  // the memory that its demo gives it
    std::string label, path;
    while (std::cin >> label && std::getline(std::cin >> std::ws, path)) {
        std::string text(MAX_READ_LEN, 0);
        std::ifstream file(path, std::ios::binary);
        file.read(&text[0], MAX_READ_LEN);
        text.resize(std::max<size_t>(file.gcount(), NGRAM));  // it knows no shorter text
        if (label == "?") printf("%.17g\n", filter.Predict(text));
        else filter.Train(text, label == "spam");
    }
}
