export { type Asset, assets, contentSecurityPolicy } from './assets.ts';
export { type FleetPage, renderFleet } from './pages/fleet.ts';
export { renderWork, type WorkPage } from './pages/work.ts';
export { FLEET_ROWS } from './view/fleet.ts';
