const LONGEST = 63;

/** A short name for addresses, made of a name: `Tienda Ñuñoa` → `tienda-nunoa`. */
export function slugOf(name: string): string {
  const words =
    name
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return words.join('-').slice(0, LONGEST);
}
