#include "model/predict.h"

#include "model/virtual_run.h"

namespace tutti::model {

Prediction predict(const Question& question) { return VirtualRun(question).run(); }

}  // namespace tutti::model
