/** A process that has a file. */
export interface Holder {
  pid: number;
  /** What it is to a person: `npm start`. */
  name?: string;
  /** false: it lives, and whether it is the one that took the file cannot be told. */
  answers: boolean;
}
/** Takes `file` for this process until it ends or gives it back. */
export function claim(
  file: string,
  name: string,
): Promise<{ release: () => void; holder?: undefined } | { holder: Holder; release?: undefined }>;
/** The process that has `file`, undefined where it has ended; then the file is removed. */
export function holderOf(file: string): Promise<Holder | undefined>;
