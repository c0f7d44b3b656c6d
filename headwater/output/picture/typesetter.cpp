#include "headwater/output/picture/typesetter.h"

#include <pango/pangocairo.h>

#include <numbers>

#include "headwater/core/fail.h"
#include "headwater/core/utf8.h"
#include "headwater/output/picture/canvas.h"

namespace headwater {
namespace {

struct Free {
  void operator()(PangoContext* context) const { g_object_unref(context); }
  void operator()(PangoLayout* layout) const { g_object_unref(layout); }
  void operator()(PangoFontDescription* font) const { pango_font_description_free(font); }
};

// Without fonts Pango measures nonsense, but it fails to load one.
bool has_font(PangoContext* context, const PangoFontDescription* description) {
  PangoFont* font = pango_context_load_font(context, description);
  if (font) g_object_unref(font);
  return font != nullptr;
}

}  // namespace

struct PangoObjects {
  std::unique_ptr<PangoContext, Free> context{
      pango_font_map_create_context(pango_cairo_font_map_get_default())};
  std::unique_ptr<PangoLayout, Free> layout{pango_layout_new(context.get())};
  std::unique_ptr<PangoFontDescription, Free> font{
      pango_font_description_from_string("DejaVu Sans, Noto Sans, sans-serif 9")};

  void set(const Text& text) const {
    pango_font_description_set_size(font.get(),
                                    static_cast<int>(text.lettering.points * PANGO_SCALE));
    pango_font_description_set_weight(
        font.get(), text.lettering.bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
    pango_layout_set_font_description(layout.get(), font.get());
    pango_layout_set_text(layout.get(), text.text.data(), static_cast<int>(text.text.size()));
  }
};

Typesetter::Typesetter() : pango_(std::make_unique<PangoObjects>()) {
  PangoContext* context = pango_->context.get();
  if (!has_font(context, pango_->font.get()))
    fail("fonts: none is installed, expected at least one for pictures; install fonts-dejavu-core");
  pango_cairo_context_set_resolution(context, 72);
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options(context, options);
  cairo_font_options_destroy(options);
  pango_context_set_round_glyph_positions(context, FALSE);
  pango_layout_set_single_paragraph_mode(pango_->layout.get(), TRUE);
}

Typesetter::~Typesetter() = default;

Text Typesetter::measured(Text text) {
  pango_->set(text);
  int width = 0, height = 0;
  pango_layout_get_size(pango_->layout.get(), &width, &height);
  text.width = double(width) / PANGO_SCALE;
  text.height = double(height) / PANGO_SCALE;
  text.ascent = double(pango_layout_get_baseline(pango_->layout.get())) / PANGO_SCALE;
  if (pango_layout_get_unknown_glyphs_count(pango_->layout.get()) > 0) find_missing(text.text);
  return text;
}

void Typesetter::find_missing(const std::string& text) {
  for (const char32_t c : code_points(text)) {
    if (missing_.contains(c)) continue;
    const std::string one = to_utf8(std::u32string_view(&c, 1));
    pango_layout_set_text(pango_->layout.get(), one.data(), static_cast<int>(one.size()));
    if (pango_layout_get_unknown_glyphs_count(pango_->layout.get()) > 0) missing_.insert(c);
  }
}

void Typesetter::draw(const Canvas& canvas, const Text& text) {
  cairo_t* cairo = canvas.cairo;
  pango_->set(text);
  const Colour& colour = text.lettering.colour;
  cairo_save(cairo);
  cairo_set_source_rgb(cairo, colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0);
  cairo_translate(cairo, text.x, text.y);
  cairo_rotate(cairo, -text.angle * std::numbers::pi / 180);
  cairo_move_to(cairo, -text.left_share() * text.width, -text.height / 2);
  pango_cairo_show_layout(cairo, pango_->layout.get());
  cairo_restore(cairo);
}

}  // namespace headwater
