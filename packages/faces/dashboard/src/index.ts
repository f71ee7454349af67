export { type Asset, assets, contentSecurityPolicy } from './assets.ts';
export { type DeadLettersPage, renderDeadLetters } from './pages/dead-letters.ts';
export { type FleetPage, renderFleet } from './pages/fleet.ts';
export { type ReportPage, renderReport } from './pages/report.ts';
export { renderUnknownWork, renderWork, type WorkPage } from './pages/work.ts';
export { FLEET_ROWS } from './view/fleet.ts';
export { workPath } from './view/words.ts';
