/** Brings the texts of this folder (vite.config.ts). */
declare module 'virtual:texts/problems';
