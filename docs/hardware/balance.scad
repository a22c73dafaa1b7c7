// The referee's balance of build D: the platform, and the block that holds both blades apart at the base and, once more,
// at the platform. Measure your blades and change the first four numbers; OpenSCAD then tells how fast it will swing.
//
// Print the platform once, face down, and the block twice; 0.2 mm layers, four walls. Never printed yet by us. Lengths in
// mm, masses in g, frequencies in Hz.

free = 95;          // length of each blade between the blocks: shorter swings faster
blade_width = 13;
blade_thick = 0.5;  // 0.65 for a hacksaw blade
igloo = 40;         // what an igloo with its beads weighs

/* [The blades] */
apart = 30;         // one above the other, middle to middle
young = 200;        // of steel, GPa
steel = 7.85;       // g/cm³
hole = 3.4;         // for the screws, M3, two through each block

/* [The platform] */
plate = 70;         // side: an igloo's foot and 5 mm around it
plate_thick = 2;
rib = 6;            // height of the ribs beneath, which keep it from bending
rib_thick = 1.6;
plastic = 1.24;     // of PLA, g/cm³
others = 6;         // sensor, its glue, two screws and nuts

/* [The block] */
block = [14, 14];   // along the blade, across it

$fn = 48;
ribs = 4;
// Both ends of a blade stay level, so it is as stiff as 12 E I / L³; there are two.
stiffness = 2000000 * young * blade_width * blade_thick * blade_thick * blade_thick / (free * free * free);   // N/m
platform_g = plastic * (plate * plate * plate_thick + ribs * plate * rib * rib_thick) / 1000;
block_g = plastic * block[0] * block[1] * (apart - blade_thick) / 1000;
// Of a blade whose other end is held 13/35 swing along.
blades_g = 2 * 13 / 35 * steel * free * blade_width * blade_thick / 1000;
swinging = platform_g + block_g + blades_g + others;
empty_hz = sqrt(1000 * stiffness / swinging) / 6.2832;
loaded_hz = sqrt(1000 * stiffness / (swinging + igloo)) / 6.2832;
bead = 100 * 0.67 / (2 * (swinging + igloo));   // percent of the frequency that one bead of 8 mm makes
sag = 9.81 * igloo / stiffness;                 // under the igloo
echo(swinging = swinging, empty_hz = empty_hz, loaded_hz = loaded_hz, bead_percent = bead, sag = sag);
assert(loaded_hz >= 12, "It would swing too slowly with an igloo on it: shorten the blades.");
assert(empty_hz <= 40, "It would swing too fast: lengthen the blades.");

module holes(depth) {
    for (x = [-1, 1]) translate([x * block[0] / 4, 0, -1]) cylinder(h = depth + 2, d = hole);
}

module platform() {
    difference() {
        union() {
            translate([-plate / 2, -plate / 2, 0]) cube([plate, plate, plate_thick]);
            for (n = [0 : ribs / 2 - 1], turn = [0, 90])
                rotate(turn) translate([-plate / 2, (n * 2 - 1) * plate / 4 - rib_thick / 2, plate_thick - 0.01])
                    cube([plate, rib_thick, rib]);
            // where the block is screwed on
            translate([-plate / 2, -block[1] / 2, 0]) cube([block[0], block[1], plate_thick + rib]);
        }
        translate([-plate / 2 + block[0] / 2, 0, 0]) holes(plate_thick + rib);
    }
}

module spacer() {
    difference() {
        translate([-block[0] / 2, -block[1] / 2, 0]) cube([block[0], block[1], apart - blade_thick]);
        holes(apart);
    }
}

platform();
translate([plate / 2 + block[0], -block[1], 0]) spacer();
translate([plate / 2 + block[0], block[1], 0]) spacer();
