/** The number a character counts as: digits as themselves, capital letters as their code beyond that of 0. */
function valueOf(character: string): number {
  return character.charCodeAt(0) - 48;
}

/** Σ of the characters, each times its weight; the last character has the last weight. */
function weighted(characters: string, weights: readonly number[]): number {
  const offset = weights.length - characters.length;
  return [...characters].reduce((sum, each, at) => sum + valueOf(each) * (weights[at + offset] ?? 0), 0);
}

/** Modulo 11 of the Chilean registry: weights 2 to 7 from the right, eleven is 0 and ten is K. */
export function rutCheckDigit(body: string): string {
  const sum = weighted(body, [3, 2, 7, 6, 5, 4, 3, 2]);
  const digit = 11 - (sum % 11);
  return digit === 11 ? '0' : digit === 10 ? 'K' : String(digit);
}

/** Modulo 11 of Argentina's tax office; undefined where the remainder is 1: no number is issued with it. */
export function cuitCheckDigit(body: string): string | undefined {
  const remainder = weighted(body, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
  if (remainder === 1) return undefined;
  return String(remainder === 0 ? 0 : 11 - remainder);
}

/** The two check digits of a CPF: modulo 11 over nine digits, then over ten. */
export function cpfCheckDigits(body: string): string {
  const first = modulo11(body, [10, 9, 8, 7, 6, 5, 4, 3, 2]);
  return first + modulo11(body + first, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
}

/** The two check digits of a CNPJ, of capital letters too, as they are issued since July 2026. */
export function cnpjCheckDigits(body: string): string {
  const first = modulo11(body, [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]);
  return first + modulo11(body + first, [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]);
}

/** Modulo 11 of Colombia's tax office, over primes from the right. */
export function nitCheckDigit(body: string): string {
  const remainder = weighted(body, [41, 37, 29, 23, 19, 17, 13, 7, 3]) % 11;
  return String(remainder < 2 ? remainder : 11 - remainder);
}

/** Modulo 11 of Peru's tax office. */
export function rucCheckDigit(body: string): string {
  return String((11 - (weighted(body, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 10);
}

/** Modulo 10 of Uruguay's registry. */
export function ciCheckDigit(body: string): string {
  return String((10 - (weighted(body.padStart(7, '0'), [2, 9, 8, 7, 6, 3, 4]) % 10)) % 10);
}

const CURP_ALPHABET = '0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ';

/** Modulo 10 of Mexico's population registry over 17 characters, weights 18 to 2. */
export function curpCheckDigit(body: string): string {
  const sum = [...body].reduce((total, each, at) => total + CURP_ALPHABET.indexOf(each) * (18 - at), 0);
  return String((10 - (sum % 10)) % 10);
}

function modulo11(body: string, weights: readonly number[]): string {
  const remainder = weighted(body, weights) % 11;
  return String(remainder < 2 ? 0 : 11 - remainder);
}
