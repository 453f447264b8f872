/** @throws Error of one sentence on a Node that is too old to begin with. */
export function requireNode(version?: string): void;
/** The Java to run Kafka with: JAVA_HOME's, else the path's. @throws Error of one sentence. */
export function findJava(env?: NodeJS.ProcessEnv): string;
/** Free mebibytes where `folder` is or would be. */
export function freeMebibytes(folder: string): number;
/** @throws Error of one sentence where less than `mebibytes` are free. */
export function requireDisk(folder: string, mebibytes: number, free?: number): void;
/** The sentence for an error that a full disk caused, whoever met it. */
export function fullDiskSentence(error: unknown): string | undefined;
