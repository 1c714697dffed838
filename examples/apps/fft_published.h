/* The sums that NAS published for classes of the problem FT, to be met within 1e-12 of their
 * magnitude. They are those of the verification in the NAS Parallel Benchmarks 3.4 (FT); the report
 * NAS-95-020 describes these classes. */
#ifndef FFT_PUBLISHED_H
#define FFT_PUBLISHED_H

enum { published_iterations = 6 };

typedef struct {
  const char* name;
  int size[3]; /* NX, NY, NZ */
  double sums[published_iterations][2];
} Published;

static const Published published_classes[] = {
    {"S",
     {64, 64, 64},
     {{554.6087004964, 484.5363331978},
      {554.6385409189, 486.5304269511},
      {554.6148406171, 488.3910722336},
      {554.5423607415, 490.1273169046},
      {554.4255039624, 491.7475857993},
      {554.2683411902, 493.2597244941}}},
    {"W",
     {128, 128, 32},
     {{567.3612178944, 529.3246849175},
      {563.1436885271, 528.2149986629},
      {559.4024089970, 527.0996558037},
      {556.0698047020, 526.0027904925},
      {553.0898991250, 524.9400845633},
      {550.4159734538, 523.9212247086}}},
    {"A",
     {256, 256, 128},
     {{504.6735008193, 511.4047905510},
      {505.9412319734, 509.8809666433},
      {506.9376896287, 509.8144042213},
      {507.7892868474, 510.1336130759},
      {508.5233095391, 510.4914655194},
      {509.1487099959, 510.7917842803}}},
};

enum { published_count = sizeof published_classes / sizeof published_classes[0] };

#endif
