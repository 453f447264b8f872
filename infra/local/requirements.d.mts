/** @throws Error of one sentence on a Node that is too old to begin with. */
export function requireNode(version?: string): void;
/** @throws Error of one sentence on a system that is not supported as such. */
export function requireSystem(platform?: NodeJS.Platform): void;
/** The Java to run Kafka with: JAVA_HOME's, the path's, else Homebrew's. @throws Error of one sentence. */
export function findJava(env?: NodeJS.ProcessEnv, homebrew?: readonly string[]): string;
/** What the Java that {@link findJava} finds says of itself: another text is another Java. */
export function javaIdentity(): string;
/** Free mebibytes where `folder` is or would be. */
export function freeMebibytes(folder: string): number;
/** @throws Error of one sentence where less than `mebibytes` are free. */
export function requireDisk(folder: string, mebibytes: number, free?: number): void;
/** The sentence for an error that a full disk caused, whoever met it. */
export function fullDiskSentence(error: unknown): string | undefined;
