/** The names that captures give to patches, such as "<image 0: 3,4>"; in a video the frame comes first. */
export const PATCH = /^<((?:image|video) \d+: (?:\d+,)?)(\d+),(\d+)>$/;
