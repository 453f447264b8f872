/** The languages in which an archive explains itself; the first where the person's is none of them. */
export const ARCHIVE_LOCALES = ['es', 'en'] as const;

/** One of {@link ARCHIVE_LOCALES}. */
export type ArchiveLocale = (typeof ARCHIVE_LOCALES)[number];

const ES = {
  access: 'Tus datos',
  portability: 'Los datos que entregaste',
  lead: 'Este archivo contiene lo que se tiene sobre ti. Cada tabla está completa en dos formatos: JSON y CSV.',
  made: 'Preparado el',
  request: 'Solicitud',
  nothing: 'Nada.',
  rows: 'Filas',
  first: 'Aquí se muestran las primeras',
  files: 'Completo en',
  modules: {
    core: 'Identidad y actividad',
    crm: 'Relación con el equipo',
    loyalty: 'Puntos',
    messaging: 'Mensajes',
  } as Record<string, string>,
  resources: {
    contacts: 'Perfil',
    identities: 'Identificadores',
    consents: 'Consentimientos',
    events: 'Eventos',
    segments: 'Segmentos',
    merges: 'Perfiles unidos',
    dead_letters: 'Eventos que no se pudieron procesar',
    subject_requests: 'Solicitudes',
    notes: 'Notas',
    activities: 'Actividades',
    lists: 'Listas',
    transactions: 'Movimientos de puntos',
    lots: 'Puntos disponibles, por vencimiento',
    balances: 'Saldos',
    profile: 'Perfil para mensajes',
    preferences: 'Preferencias',
    sends: 'Mensajes enviados',
    send_history: 'Estados de los mensajes',
    notifications: 'Avisos',
    suppressions: 'Direcciones a las que no se envía',
    webhook_deliveries: 'Entregas pendientes a otros sistemas',
  } as Record<string, string>,
};

const EN: typeof ES = {
  access: 'Your data',
  portability: 'The data that you gave',
  lead: 'This archive holds what is known about you. Each table is complete in two formats: JSON and CSV.',
  made: 'Made on',
  request: 'Request',
  nothing: 'Nothing.',
  rows: 'Rows',
  first: 'These are the first',
  files: 'Complete in',
  modules: {
    core: 'Identity and activity',
    crm: 'What the team noted',
    loyalty: 'Points',
    messaging: 'Messages',
  },
  resources: {
    contacts: 'Profile',
    identities: 'Identifiers',
    consents: 'Consents',
    events: 'Events',
    segments: 'Segments',
    merges: 'Merged profiles',
    dead_letters: 'Events that could not be processed',
    subject_requests: 'Requests',
    notes: 'Notes',
    activities: 'Activities',
    lists: 'Lists',
    transactions: 'Movements of points',
    lots: 'Points that are left, by when they expire',
    balances: 'Balances',
    profile: 'Profile for messages',
    preferences: 'Preferences',
    sends: 'Messages sent',
    send_history: 'States of messages',
    notifications: 'Notifications',
    suppressions: 'Addresses that nothing is sent to',
    webhook_deliveries: 'Deliveries that wait for other systems',
  },
};

/** The texts of the page that explains an archive. */
export const ARCHIVE_TEXTS: Readonly<Record<ArchiveLocale, typeof ES>> = { es: ES, en: EN };
