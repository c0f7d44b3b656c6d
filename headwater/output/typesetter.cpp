#include "headwater/output/typesetter.h"

#include <pango/pangocairo.h>

#include <numbers>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

// Pango measures nonsense without fonts; asked to load one, it answers.
bool has_font(PangoContext* context, const PangoFontDescription* description) {
  PangoFont* font = pango_context_load_font(context, description);
  if (font) g_object_unref(font);
  return font != nullptr;
}

}  // namespace

void Typesetter::Free::operator()(PangoContext* context) const { g_object_unref(context); }
void Typesetter::Free::operator()(PangoLayout* layout) const { g_object_unref(layout); }
void Typesetter::Free::operator()(PangoFontDescription* font) const {
  pango_font_description_free(font);
}

Typesetter::Typesetter()
    : context_(pango_font_map_create_context(pango_cairo_font_map_get_default())),
      layout_(pango_layout_new(context_.get())),
      font_(pango_font_description_from_string("DejaVu Sans, Noto Sans, sans-serif 9")) {
  if (!has_font(context_.get(), font_.get()))
    fail("fonts: none is installed, expected at least one for pictures; install fonts-dejavu-core");
  pango_cairo_context_set_resolution(context_.get(), 72);
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options(context_.get(), options);
  cairo_font_options_destroy(options);
  pango_context_set_round_glyph_positions(context_.get(), FALSE);
  pango_layout_set_single_paragraph_mode(layout_.get(), TRUE);
}

void Typesetter::set(const Text& text) {
  pango_font_description_set_size(font_.get(),
                                  static_cast<int>(text.lettering.points * PANGO_SCALE));
  pango_font_description_set_weight(font_.get(),
                                    text.lettering.bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  pango_layout_set_font_description(layout_.get(), font_.get());
  pango_layout_set_text(layout_.get(), text.text.data(), static_cast<int>(text.text.size()));
}

Text Typesetter::measured(Text text) {
  set(text);
  int width = 0, height = 0;
  pango_layout_get_size(layout_.get(), &width, &height);
  text.width = double(width) / PANGO_SCALE;
  text.height = double(height) / PANGO_SCALE;
  return text;
}

void Typesetter::draw(cairo_t* canvas, const Text& text) {
  set(text);
  const Colour& colour = text.lettering.colour;
  cairo_save(canvas);
  cairo_set_source_rgb(canvas, colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0);
  cairo_translate(canvas, text.x, text.y);
  cairo_rotate(canvas, -text.angle * std::numbers::pi / 180);
  cairo_move_to(canvas, -text.left_share() * text.width, -text.height / 2);
  pango_cairo_show_layout(canvas, layout_.get());
  cairo_restore(canvas);
}

}  // namespace headwater
