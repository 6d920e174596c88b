#pragma once

#include <string>
#include <utility>
#include <vector>

/// A chart of lines over a common x axis, written as SVG; both axes begin at 0 and are linear.
struct LineChart {
  struct Series {
    std::string name, color;
    double width = 1.5;
    std::vector<std::pair<double, double>> points;
  };

  std::string title, xLabel, yLabel;
  std::vector<Series> series;

  /// The SVG document.
  std::string svg() const;
};
