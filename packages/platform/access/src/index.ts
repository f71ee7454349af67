export * from './authorise.ts';
export * from './roles.ts';
export * from './settings.ts';
