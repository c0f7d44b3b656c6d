// A figure as the bytes of a .png, .svg or .pdf.
#pragma once
#include <string>

#include "headwater/output/picture/scene.h"
#include "headwater/output/picture/typesetter.h"

namespace headwater {

// Text in an .svg is real text, which a reader can search, copy and edit; a .pdf embeds the fonts
// that it needs.
//
// None needs a display, and each gives the same bytes for the same scene. Throws Error if Cairo
// fails or, for .png, if the page has more than 32767 pixels a side; `path` names the picture in
// the message.
std::string png_of(const Scene& scene, Typesetter& typesetter, const std::string& path);
std::string svg_of(const Scene& scene, Typesetter& typesetter, const std::string& path);
std::string pdf_of(const Scene& scene, Typesetter& typesetter, const std::string& path);

}  // namespace headwater
