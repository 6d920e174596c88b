#pragma once

#include "SimpleCNN.h"

#include <string>
#include <vector>

/// A model, its optimizer and the two compiled functions that share its state.
class Training {
public:
  Training(dlc::DigitsData data, int epochs, dlc::Device device = {});
  Training(const Training &) = delete; // the compiled functions hold references

  struct EpochReport {
    int epoch;
    double loss; ///< mean over the epoch's samples
    double accuracy;
  };
  /// Trains all epochs, with a progress bar and a line an epoch.
  void run();

  /// Class found for each test image.
  std::vector<int64_t> predictions();
  double accuracy();

  SimpleCNN model;
  dlc::optim::SGD optimizer{model.parameters(), {.momentum = 0.9}};
  /// (images, labels) -> loss; one step of training.
  dlc::Jitted<dlc::Tensor(dlc::Tensor, dlc::Tensor)> step;
  /// images -> classes.
  dlc::Jitted<dlc::Tensor(dlc::Tensor)> predict;

  std::vector<float> losses; ///< of each step
  std::vector<EpochReport> epochReports;
  double firstStepSeconds = 0;  ///< with tracing and compiling
  double medianStepSeconds = 0; ///< of a full batch

private:
  dlc::DigitsData data;
  int epochs;
  dlc::Device device;
};
