// Written by `npm run generate` from the version in package.json.

/** Names the release, as the tags of its images do. */
export const VERSION = '2026.11.0';

/** Labels the release, as the documents and the Console show it. */
export const RELEASE = '2026.11';
