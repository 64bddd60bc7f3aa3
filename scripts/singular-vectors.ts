/** The leading left singular vectors of a large sparse matrix, by a randomised method (Halko, Martinsson, Tropp). */

export interface SparseMatrix {
  rows: number;
  width: number;
  /** Where the values of each row begin; one more than there are rows. */
  starts: Int32Array;
  columns: Int32Array;
  values: Float32Array;
}

/** More vectors than wanted are computed, because the last ones are inexact. */
const EXTRA = 16;
const ROUNDS = 3;

/** Row by row, each vector scaled by the root of its singular value. */
export function leadingVectors(matrix: SparseMatrix, wanted: number): Float32Array {
  const count = wanted + EXTRA;
  let basis = times(matrix, randomMatrix(matrix.width * count), count);
  for (let round = 0; round < ROUNDS; round += 1) {
    orthonormalize(basis, matrix.rows, count);
    const back = timesTransposed(matrix, basis, count);
    orthonormalize(back, matrix.width, count);
    basis = times(matrix, back, count);
  }
  orthonormalize(basis, matrix.rows, count);
  const projected = timesTransposed(matrix, basis, count);
  const { values, vectors } = eigenvectors(gram(projected, matrix.width, count), count);
  const result = new Float32Array(matrix.rows * wanted);
  for (let row = 0; row < matrix.rows; row += 1) {
    for (let k = 0; k < wanted; k += 1) {
      let sum = 0;
      for (let j = 0; j < count; j += 1) sum += basis[row * count + j] * vectors[j * count + k];
      result[row * wanted + k] = sum * values[k] ** 0.25;
    }
  }
  return result;
}

/** The same numbers in every run. */
function randomMatrix(length: number): Float32Array {
  let state = 12_345;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 1) / 4_294_967_297;
  };
  return Float32Array.from({ length }, () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next()));
}

/** matrix × dense, with `count` columns. */
function times({ rows, starts, columns, values }: SparseMatrix, dense: Float32Array, count: number): Float32Array {
  const result = new Float32Array(rows * count);
  for (let row = 0; row < rows; row += 1) {
    for (let at = starts[row]; at < starts[row + 1]; at += 1) {
      const [from, value] = [columns[at] * count, values[at]];
      for (let k = 0; k < count; k += 1) result[row * count + k] += value * dense[from + k];
    }
  }
  return result;
}

/** matrixᵀ × dense. */
function timesTransposed(matrix: SparseMatrix, dense: Float32Array, count: number): Float32Array {
  const { rows, width, starts, columns, values } = matrix;
  const result = new Float32Array(width * count);
  for (let row = 0; row < rows; row += 1) {
    for (let at = starts[row]; at < starts[row + 1]; at += 1) {
      const [to, value] = [columns[at] * count, values[at]];
      for (let k = 0; k < count; k += 1) result[to + k] += value * dense[row * count + k];
    }
  }
  return result;
}

/** Gram-Schmidt, in place, over the columns. */
function orthonormalize(dense: Float32Array, rows: number, count: number): void {
  for (let k = 0; k < count; k += 1) {
    for (let earlier = 0; earlier <= k; earlier += 1) {
      let product = 0;
      for (let at = 0; at < rows * count; at += count) product += dense[at + k] * dense[at + earlier];
      if (earlier === k) {
        const scale = 1 / Math.max(Math.sqrt(product), 1e-12);
        for (let at = k; at < rows * count; at += count) dense[at] *= scale;
      } else {
        for (let at = 0; at < rows * count; at += count) dense[at + k] -= product * dense[at + earlier];
      }
    }
  }
}

/** denseᵀ × dense. */
function gram(dense: Float32Array, rows: number, count: number): Float64Array {
  const result = new Float64Array(count * count);
  for (let at = 0; at < rows * count; at += count) {
    for (let i = 0; i < count; i += 1) {
      for (let j = 0; j < count; j += 1) result[i * count + j] += dense[at + i] * dense[at + j];
    }
  }
  return result;
}

const SWEEPS = 12;

/** Of a symmetric matrix, largest first, by Jacobi rotations. Vectors are columns. */
function eigenvectors(symmetric: Float64Array, size: number): { values: number[]; vectors: Float64Array } {
  const a = symmetric;
  const v = new Float64Array(size * size);
  for (let i = 0; i < size; i += 1) v[i * size + i] = 1;
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (let p = 0; p < size; p += 1) for (let q = p + 1; q < size; q += 1) rotate(a, v, size, p, q);
  }
  const order = Array.from({ length: size }, (_, k) => k).sort((x, y) => a[y * size + y] - a[x * size + x]);
  const vectors = new Float64Array(size * size);
  for (const [place, k] of order.entries()) {
    for (let i = 0; i < size; i += 1) vectors[i * size + place] = v[i * size + k];
  }
  return { values: order.map((k) => a[k * size + k]), vectors };
}

function rotate(a: Float64Array, v: Float64Array, size: number, p: number, q: number): void {
  const off = a[p * size + q];
  if (Math.abs(off) < 1e-9) return;
  const theta = (a[q * size + q] - a[p * size + p]) / (2 * off);
  const tangent = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const cosine = 1 / Math.sqrt(tangent * tangent + 1);
  const sine = tangent * cosine;
  const turn = (matrix: Float64Array, x: number, y: number): void => {
    const [first, second] = [matrix[x], matrix[y]];
    matrix[x] = cosine * first - sine * second;
    matrix[y] = sine * first + cosine * second;
  };
  for (let i = 0; i < size; i += 1) turn(a, i * size + p, i * size + q);
  for (let i = 0; i < size; i += 1) turn(a, p * size + i, q * size + i);
  for (let i = 0; i < size; i += 1) turn(v, i * size + p, i * size + q);
}
