// Cells of a matrix as pixels. A million of them: whole numbers in plain arrays.

const order = facts.order;
const FULL = 32767;
const BLANK = -FULL - 1;
const SHADES = 255;

// Tones from -1 to 1, row by row in the order of the matrix; null leaves a cell blank.
// Worked out while the browser idles, and what is left of them when they are needed.
const levelsOf = (tone) => {
  const levels = new Int16Array(size * size);
  let done = 0;
  const nextRow = () => {
    const i = order[done];
    let k = done * size;
    for (const j of order) {
      const t = tone(i, j);
      levels[k++] = t === null ? BLANK : Math.round(FULL * Math.min(Math.max(t, -1), 1));
    }
    done++;
  };
  const whenIdle = (deadline) => {
    while (done < size && deadline.timeRemaining() > 1) nextRow();
    if (done < size) requestIdleCallback(whenIdle);
  };
  window.requestIdleCallback?.(whenIdle);
  return () => {
    while (done < size) nextRow();
    return levels;
  };
};

// Bytes of an image are red, green, blue, opacity.
const pixelOf = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;

const palettePixels = () => {
  const colour = diverging();
  const at = (_, k) => pixelOf(colour((k - SHADES) / SHADES));
  return Uint32Array.from({ length: 2 * SHADES + 1 }, at);
};

// The strongest level of a block of cells.
const pooled = (levels, top, bottom, left, right) => {
  let [best, most] = [BLANK, -1];
  for (let a = top; a < bottom; a++) {
    for (let k = a * size + left; k < a * size + right; k++) {
      const strong = Math.abs(levels[k]);
      if (levels[k] !== BLANK && strong > most) [best, most] = [levels[k], strong];
    }
  }
  return best;
};

// A square of pixels; where there are more cells than pixels the strongest shows.
const coloured = (levels, { span, row, column }, pixels) => {
  const image = new ImageData(pixels, pixels);
  const target = new Uint32Array(image.data.buffer);
  const palette = palettePixels();
  const blank = pixelOf(rgb(colours.line));
  const edges = (start) =>
    Int32Array.from({ length: pixels + 1 }, (_, p) => start + Math.floor((p * span) / pixels));
  const [rows, columns] = [edges(row), edges(column)];
  for (let p = 0; p < pixels; p++) {
    const [top, bottom] = [rows[p], Math.max(rows[p + 1], rows[p] + 1)];
    // A row of cells as high as several pixels is coloured once.
    if (p > 0 && top === rows[p - 1]) {
      target.copyWithin(p * pixels, (p - 1) * pixels, p * pixels);
      continue;
    }
    for (let q = 0; q < pixels; q++) {
      if (q > 0 && columns[q] === columns[q - 1]) {
        target[p * pixels + q] = target[p * pixels + q - 1];
        continue;
      }
      const level = pooled(levels, top, bottom, columns[q], Math.max(columns[q + 1], columns[q] + 1));
      target[p * pixels + q] =
        level === BLANK ? blank : palette[Math.round((level / FULL) * SHADES) + SHADES];
    }
  }
  return image;
};
