#include "LineChart.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace {

constexpr double kWidth = 720, kHeight = 420;
constexpr double kLeft = 64, kRight = 24, kTop = 48, kBottom = 56;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;

/// printf into a string; for numbers and texts that fit a few hundred characters.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char *format, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

/// A linear axis from 0, with ticks at multiples of 1, 2 or 5 times a power of ten.
struct Axis {
  double limit = 1, step = 1;
  int digits = 0, ticks = 0; // ticks at 0, step, … ticks * step

  Axis(double largest, int mostTicks) : limit(largest > 0 ? largest : 1) {
    double power = std::pow(10, std::floor(std::log10(limit / mostTicks)));
    for (double factor : {1.0, 2.0, 5.0, 10.0})
      if (step = factor * power; limit / step <= mostTicks)
        break;
    ticks = int(limit / step + 1e-9);
    digits = std::max(0, -int(std::floor(std::log10(step) + 1e-9)));
  }
};

std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  return result;
}

std::string text(double x, double y, const char *anchor, const std::string &content, const std::string &more = "") {
  return formatted("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>\n", x, y, anchor, more.c_str(),
                   escaped(content).c_str());
}

std::string line(double x1, double y1, double x2, double y2, const char *color) {
  return formatted("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1, y1, x2, y2, color);
}

} // namespace

std::string LineChart::svg() const {
  double right = 0, top = 0;
  for (const Series &one : series)
    for (auto [x, y] : one.points) {
      right = std::max(right, x);
      top = std::max(top, y);
    }
  Axis xAxis(right, 10), yAxis(top, 6);
  auto toX = [&](double x) { return kLeft + x / xAxis.limit * kPlotWidth; };
  auto toY = [&](double y) { return kTop + (1 - y / yAxis.limit) * kPlotHeight; };

  std::string out = formatted("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %1$g %2$g\" width=\"%1$g\" "
                              "height=\"%2$g\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n"
                              "<rect width=\"%1$g\" height=\"%2$g\" fill=\"white\"/>\n",
                              kWidth, kHeight);
  out += text(kWidth / 2, 26, "middle", title, " font-size=\"16\"");
  for (int i = 0; i <= yAxis.ticks; ++i) {
    double y = i * yAxis.step;
    out += line(kLeft, toY(y), kWidth - kRight, toY(y), "#e5e5e5");
    out += text(kLeft - 8, toY(y) + 4, "end", formatted("%.*f", yAxis.digits, y));
  }
  for (int i = 0; i <= xAxis.ticks; ++i) {
    double x = i * xAxis.step;
    out += line(toX(x), kHeight - kBottom, toX(x), kHeight - kBottom + 5, "#333");
    out += text(toX(x), kHeight - kBottom + 20, "middle", formatted("%.*f", xAxis.digits, x));
  }
  out += line(kLeft, kTop, kLeft, kHeight - kBottom, "#333");
  out += line(kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom, "#333");
  out += text(kLeft + kPlotWidth / 2, kHeight - 14, "middle", xLabel);
  out +=
      text(0, 0, "middle", yLabel, formatted(" transform=\"translate(18 %.1f) rotate(-90)\"", kTop + kPlotHeight / 2));

  double legend = kTop + 8;
  for (const Series &one : series) {
    out += formatted("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-linejoin=\"round\" points=\"",
                     one.color.c_str(), one.width);
    for (auto [x, y] : one.points)
      out += formatted("%.1f,%.1f ", toX(x), toY(y));
    out += "\"/>\n";
    out += formatted("<rect x=\"%.1f\" y=\"%.1f\" width=\"18\" height=\"3\" fill=\"%s\"/>\n", kWidth - kRight - 150,
                     legend, one.color.c_str());
    out += text(kWidth - kRight - 126, legend + 5, "start", one.name);
    legend += 18;
  }
  return out + "</svg>\n";
}
