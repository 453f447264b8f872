/** The folders of an app, from the top to the ground: each imports those below it, and none above. */
export const FOLDER_ORDER: Readonly<Record<string, readonly string[]>> = {
  console: [
    'shell',
    'invitation',
    'organization',
    'audit',
    'attributes',
    'privacy',
    'loyalty',
    'live-events',
    'imports',
    'home',
    'developers',
    'taxonomies',
    'contacts',
    'sender-domains',
    'deliverability',
    'campaigns',
    'messages',
    'objects',
    'segments',
    'account',
    'routes',
    'people',
    'ui',
    'api',
    'session',
    'problems',
    'i18n',
  ],
};

/** One folder, the folders that it may import, and an expression for each. */
interface FolderRule {
  /** Files of the folder. */
  readonly from: string;
  /** Its app's sources. */
  readonly app: string;
  /** Files of the folder and of those below it. */
  readonly allowed: string;
}

/** A rule for each folder that is listed, and one for those that are not: they import nothing until they are. */
export function folderRules(): FolderRule[] {
  return Object.entries(FOLDER_ORDER).flatMap(([app, order]) => {
    const sources = `^apps/${app}/src/`;
    const within = (folders: readonly string[]): string => `${sources}(${folders.join('|')})/`;
    const unlisted = `${sources}(?!(${order.join('|')})/)[^/]+/`;
    return [
      ...order.map((folder, place) => ({
        from: within([folder]),
        app: sources,
        allowed: within(order.slice(place)),
      })),
      { from: unlisted, app: sources, allowed: unlisted },
    ];
  });
}
